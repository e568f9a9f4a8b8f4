import assert from "node:assert/strict";
import { test } from "node:test";
import { refused } from "./blobs.fixture.ts";
import { Paths } from "./paths.fixture.ts";
import { undeletePath } from "./undelete-path.ts";

test("a deleted file or directory comes back as what it was", async () => {
  const paths = await Paths.open();
  await paths.blobs.keepDeleted(7);
  await paths.write("f", "bytes");
  await paths.create("directory", "d");
  await paths.delete("f");
  await paths.delete("d");
  const undelete = (path: string) =>
    undeletePath(paths.blobs.context, { ...paths.blobs.use(path), deletionId: null });
  assert.deepEqual(await undelete("f"), { kind: "file" });
  assert.deepEqual(await undelete("d"), { kind: "directory" });
  assert.equal(await paths.blobs.text("f"), "bytes");
  assert.deepEqual(await paths.list(), ["d/", "f"]);
  await assert.rejects(undelete("missing"), refused("BlobNotFound"));
});
