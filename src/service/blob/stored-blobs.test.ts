import assert from "node:assert/strict";
import { test } from "node:test";
import { key, keyAfter, SPACE, type Space } from "../../base/keys.ts";
import { Paths } from "./paths.fixture.ts";
import { STORED_BLOBS } from "./stored-blobs.ts";

test("a record in a directory is named by its whole path, also after a rename", async () => {
  const paths = await Paths.openHierarchical();
  await paths.write("a/b/c", "bytes");
  await paths.blobs.snapshot("a/b/c");
  await paths.append("a/b/c", 5, "not flushed");
  const names = (space: Space) =>
    paths.blobs.store.read((view) => {
      const all = key(space);
      const entries = view.range(all, keyAfter(all), { limit: 10 });
      return entries.map((entry) => STORED_BLOBS.nameOf(view, entry.key)).sort();
    });
  assert.deepEqual(await names(SPACE.blob), [
    'blob "account/container/a"',
    'blob "account/container/a/b"',
    'blob "account/container/a/b/c"',
  ]);
  await paths.rename("a/b", "x");
  const moved = "account/container/x/c";
  assert.deepEqual(await names(SPACE.blobSnapshot), [`snapshot of blob "${moved}"`]);
  assert.deepEqual(await names(SPACE.stagedBlock), [`uncommitted block of blob "${moved}"`]);
});
