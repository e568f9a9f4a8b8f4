import assert from "node:assert/strict";
import { test } from "node:test";
import type { FaultCode } from "../../base/fault.ts";
import { HANDLES_OF_ITEM_MAX } from "../../base/limits.ts";
import { FILE_ATTRIBUTES } from "../../rules/file-attributes.ts";
import { DELETE, judgeOpen, READ, WRITE } from "../../rules/share-mode.ts";
import { leaseFile } from "./lease-file.ts";
import type { Disposition } from "./open-file.ts";
import { ALL, Files, refused } from "./opens.fixture.ts";

/** Each disposition: what happens to an existing file, and what with a free name. */
const DISPOSITIONS: readonly [Disposition, string, string][] = [
  ["open", "opened", "ResourceNotFound"],
  ["openIf", "opened", "created"],
  ["create", "ResourceAlreadyExists", "created"],
  ["overwrite", "overwritten", "ResourceNotFound"],
  ["overwriteIf", "overwritten", "created"],
  ["supersede", "superseded", "created"],
];

for (const [disposition, there, missing] of DISPOSITIONS) {
  test(`${disposition}: ${there} where there is a file, ${missing} where there is none`, async () => {
    const files = await Files.open();
    const { id } = await files.create("there", 5);
    await files.write("there", 0, "hello");
    for (const [name, expected] of [
      ["there", there],
      ["missing", missing],
    ] as const) {
      if (/^[A-Z]/.test(expected)) {
        const opening = files.openDone(name, { disposition });
        await assert.rejects(opening, refused(expected as FaultCode));
        continue;
      }
      const done = await files.openDone(name, { disposition });
      assert.equal(done.action, expected);
      if (name === "there") assert.equal(done.item.id, id);
    }
    const isEmptied = there === "overwritten" || there === "superseded";
    assert.equal((await files.read("there")).toString(), isEmptied ? "" : "hello");
  });
}

test("an open fails if the item is not of the requested kind", async () => {
  const files = await Files.open();
  await files.create("file");
  await files.createDirectory("dir");
  const wrong = refused("ResourceTypeMismatch");
  await assert.rejects(files.open("file", { kind: "directory" }), wrong);
  await assert.rejects(files.open("dir", { kind: "file" }), wrong);
  assert.equal((await files.openDone("file", { kind: "file" })).isDirectory, false);
  assert.equal((await files.openDone("dir", { kind: "directory" })).isDirectory, true);
  const exists = refused("ResourceAlreadyExists");
  await assert.rejects(files.open("dir", { disposition: "overwriteIf" }), exists);
  const made = await files.openDone("new", { disposition: "create", kind: "directory" });
  assert.ok(made.isDirectory && made.action === "created");
});

test("the root opens like any directory, and cannot be deleted", async () => {
  const files = await Files.open();
  assert.ok((await files.openDone("")).isDirectory);
  const notEmpty = refused("DirectoryNotEmpty");
  await assert.rejects(files.open("", { deletesOnClose: true }), notEmpty);
  await assert.rejects(files.open("", { disposition: "create" }), refused("ResourceAlreadyExists"));
});

test("opens are compatible or not as the share-mode rule says, for every access and share mode", async () => {
  const files = await Files.open();
  await files.create("file");
  const bits = [0, 1, 2, 3, 4, 5, 6, 7];
  const modes = bits.flatMap((access) => bits.map((share) => ({ access, share })));
  for (const first of modes) {
    const held = await files.open("file", { mode: first });
    for (const second of modes) {
      const code = judgeOpen([first], second, false);
      const opening = files.open("file", { mode: second });
      if (code === null) await files.close(await opening);
      else await assert.rejects(opening, refused(code));
    }
    await files.close(held);
  }
  assert.equal(await files.recordsOfOpens(), 0);
});

test("many opens of one kind count until the last of them is closed", async () => {
  const files = await Files.open();
  await files.create("file");
  const mode = { access: READ, share: READ };
  const [one, two] = [await files.open("file", { mode }), await files.open("file", { mode })];
  const write = { mode: { access: WRITE, share: ALL } };
  await files.close(one);
  await assert.rejects(files.open("file", write), refused("SharingViolation"));
  await files.close(two);
  await files.open("file", write);
});

test("overwriting counts as writing, for share modes and for attributes", async () => {
  const files = await Files.open();
  await files.create("file");
  const reader = await files.open("file", { mode: { access: READ, share: READ } });
  const overwrite = { disposition: "overwrite", mode: { access: READ, share: ALL } } as const;
  await assert.rejects(files.open("file", overwrite), refused("SharingViolation"));
  await files.close(reader);
  await files.create("fixed", 0, FILE_ATTRIBUTES.ReadOnly);
  const readOnly = refused("ReadOnlyAttribute");
  await assert.rejects(files.open("fixed", overwrite), readOnly);
  await assert.rejects(files.open("fixed", { mode: { access: WRITE, share: ALL } }), readOnly);
  await assert.rejects(files.open("fixed", { deletesOnClose: true }), readOnly);
  await files.open("fixed");
});

test("a leased file opens for reading, but not for writing or deleting, until the lease ends", async () => {
  const files = await Files.open();
  await files.create("file");
  const proposedId = "aaaaaaaa-0000-4000-8000-000000000001";
  const acquire = { action: "acquire", proposedId, isNewId: false, durationSeconds: -1 } as const;
  await leaseFile(files.context, { ...files.at("file"), lease: acquire });
  await files.close(await files.open("file"));
  for (const access of [WRITE, DELETE, READ | DELETE]) {
    const opening = files.open("file", { mode: { access, share: ALL } });
    await assert.rejects(opening, refused("SharingViolation"));
  }
  const end = { action: "break", periodSeconds: null } as const;
  await leaseFile(files.context, { ...files.at("file"), lease: end });
  await files.open("file", { mode: { access: WRITE, share: ALL } });
});

test(`a file has at most ${HANDLES_OF_ITEM_MAX} handles`, async () => {
  const files = await Files.open();
  await files.create("file");
  const first = await files.open("file");
  for (let open = 1; open < HANDLES_OF_ITEM_MAX; open++) await files.open("file");
  await assert.rejects(files.open("file"), refused("HandleLimitExceeded"));
  await files.close(first);
  await files.open("file");
});

test("a handle is closed once", async () => {
  const files = await Files.open();
  await files.create("file");
  const handle = await files.open("file");
  await files.close(handle);
  await assert.rejects(files.close(handle), refused("InvalidHandle"));
});

test("a file overwritten over REST stays the same file for its open handles", async () => {
  const files = await Files.open();
  await files.create("file", 5);
  const handle = await files.open("file", { mode: { access: READ, share: WRITE | DELETE } });
  await files.create("file", 3);
  await assert.rejects(files.read("file"), refused("SharingViolation"));
  await files.close(handle);
  assert.equal((await files.read("file")).length, 3);
  assert.equal(await files.recordsOfOpens(), 0);
});
