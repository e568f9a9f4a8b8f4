import assert from "node:assert/strict";
import { test } from "node:test";
import { DELETE, READ, WRITE } from "../../rules/share-mode.ts";
import { HolderScan } from "../shared/holder-scan.ts";
import { HELD_FILES, HELD_OPENS } from "./held-files.ts";
import { leaseFile } from "./lease-file.ts";
import { lockRanges } from "./lock-ranges.ts";
import { ALL, Files } from "./opens.fixture.ts";

test("opens are shown with access, share mode and locks, until they close", async () => {
  const files = await Files.open();
  await files.createDirectory("docs");
  await files.create("docs/plan");
  const scan = new HolderScan(files.store, HELD_OPENS);
  const handle = await files.open("docs/plan", { mode: { access: READ | WRITE, share: READ } });
  const lock = { offset: 1n << 63n, length: 10n, isExclusive: true };
  await lockRanges(files.context, { ...handle, ranges: [lock] });
  const { holders } = await scan.list();
  const { account, share } = files.share().at;
  const at = { account, container: share, path: "docs/plan" };
  const id = String(handle.handle);
  assert.deepEqual(holders, [
    {
      ...at,
      held: {
        kind: "handle",
        id,
        sessionId: "1",
        clientIp: "127.0.0.1",
        access: ["read", "write"],
        shareMode: ["read"],
        isDirectory: false,
        deletesOnClose: false,
        openedMs: files.clock.now(),
      },
    },
    {
      ...at,
      held: {
        kind: "lock",
        handle: id,
        offset: "9223372036854775808",
        length: "10",
        isExclusive: true,
      },
    },
  ]);
  await files.close(handle);
  assert.deepEqual((await scan.list()).holders, []);
});

test("a file that waits for its last handle is shown as delete pending", async () => {
  const files = await Files.open();
  await files.create("old");
  const handle = await files.open("old", { mode: { access: READ | DELETE, share: ALL } });
  await files.mark(handle, true);
  const { holders } = await new HolderScan(files.store, HELD_OPENS).list();
  assert.deepEqual(
    holders.map(({ path, held }) => [path, held.kind]),
    [
      ["old", "handle"],
      ["old", "deletePending"],
    ],
  );
});

test("leases of files are found", async () => {
  const files = await Files.open();
  await files.create("one");
  await files.create("two");
  const lease = {
    action: "acquire",
    proposedId: "id",
    isNewId: false,
    durationSeconds: -1,
  } as const;
  await leaseFile(files.context, { ...files.at("two"), lease });
  const { holders } = await new HolderScan(files.store, HELD_FILES).list();
  assert.deepEqual(
    holders.map(({ path, held }) => [path, held.kind === "lease" && held.object]),
    [["two", "file"]],
  );
});

test("many opens are read in few rounds, also if the engine has to fetch their files", async () => {
  const files = await Files.open();
  for (let at = 0; at < 60; at++) {
    await files.create(`file${at}`);
    await files.open(`file${at}`);
  }
  const { holders } = await new HolderScan(files.store, HELD_OPENS).list();
  assert.equal(holders.length, 60);
});
