import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { LazuliProcess } from "../command/process.ts";
import { SmallDisk } from "../command/small-disk.ts";
import { blobsAt } from "./fill-account.ts";
import { withServer } from "./served.ts";

const scratch = mkdtempSync(join(tmpdir(), "lazuli-full-disk-"));
after(() => rmSync(scratch, { recursive: true, force: true }));

const DISK_MIB = 2;
const BLOBS = 12;
const BLOB_BYTES = 400_000;

test("an export to a disk that is full ends with one line, and leaves nothing", async (t) => {
  const disk = SmallDisk.mount("tmpfs", DISK_MIB);
  if (typeof disk === "string") return t.skip(disk);
  t.after(() => disk.unmount());
  await withServer(join(scratch, "data"), async ({ blob }) => {
    const box = blobsAt(blob).getContainerClient("box");
    await box.create();
    for (let at = 0; at < BLOBS; at++) {
      await box.getBlockBlobClient(`${at}`).upload(randomBytes(BLOB_BYTES), BLOB_BYTES);
    }
    for (const name of ["export", "export.tar", "export.tar.gz"]) {
      const target = join(disk.folder, name);
      const args = ["export", target, "--location", join(scratch, "data")];
      const { code, err } = await new LazuliProcess(args).ended();
      assert.equal(code, 1, err);
      assert.match(err, /^The export is not written: \S+: no space is left\. Make room or .*\.$/m);
      assert.doesNotMatch(err, /^ +at /m);
      assert.deepEqual(readdirSync(disk.folder), []);
    }
  });
});
