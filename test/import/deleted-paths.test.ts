import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { LazuliProcess } from "../command/process.ts";
import { ACCOUNT, KEY } from "../sdk/server.ts";
import { blobsAt } from "./fill-account.ts";
import { lakeAt } from "./history.ts";
import { withServer } from "./served.ts";

const scratch = mkdtempSync(join(tmpdir(), "lazuli-deleted-paths-"));
after(() => rmSync(scratch, { recursive: true, force: true }));

const config = join(scratch, "lazuli.json");
const accounts = [{ name: ACCOUNT, keys: [KEY], blob: { hierarchicalNamespace: true } }];
writeFileSync(config, JSON.stringify({ accounts }));
const served = ["--config", config];

test("deleted files and directories of a container with directories are named, and not moved", async () => {
  const location = join(scratch, "data");
  await withServer(
    location,
    async ({ blob }) => {
      const deleteRetentionPolicy = { enabled: true, days: 5 };
      await blobsAt(blob).setProperties({ deleteRetentionPolicy });
      const lake = lakeAt(blob).getFileSystemClient("lake");
      await lake.create();
      for (const path of ["kept", "gone", "folder/in"]) {
        await lake.getFileClient(path).upload(Buffer.from(path));
      }
      await lake.getFileClient("gone").delete();
      await lake.getFileClient("folder/in").delete();
      await lake.getDirectoryClient("folder").delete();
      await lake.getFileClient("gone").upload(Buffer.from("again"));
      await lake.getFileClient("gone").delete();
    },
    served,
  );
  const target = join(scratch, "export");
  const place = ["--location", location, "--config", config, "--only", "blob:*"];
  const { code, err, out } = await new LazuliProcess(["export", target, ...place]).ended();
  assert.equal(code, 3, err);
  const named = err.match(/^failed: deleted path .*(?=: It was deleted)/gm);
  assert.deepEqual(named, [
    "failed: deleted path lake/folder",
    "failed: deleted path lake/gone",
    "failed: deleted path lake/gone",
  ]);
  // The container and the file that is left.
  assert.match(out, /: 2 objects, .*; 3 failed\.\n$/);
});
