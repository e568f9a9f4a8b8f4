import assert from "node:assert/strict";
import { test } from "node:test";
import { Blobs, refused } from "./blobs.fixture.ts";
import { getBlockList } from "./get-block-list.ts";

const LARGE = Buffer.alloc(100_000, "lazuli");

test("deleting a blob frees its uncommitted blocks and all of its space", async () => {
  const blobs = await Blobs.open();
  await blobs.put("blob", LARGE);
  await blobs.stage("blob", "AAAA", LARGE);
  await blobs.delete("blob", { snapshots: "include" });
  await assert.rejects(blobs.text("blob"), refused("BlobNotFound"));
  await assert.rejects(getBlockList(blobs.context, blobs.use("blob")), refused("BlobNotFound"));
  await blobs.sweep();
  assert.equal(blobs.bytesInExtents(), 0);
});

test("deleting a name with uncommitted blocks only frees all of their space", async () => {
  const blobs = await Blobs.open();
  await blobs.stage("blob", "AAAA", LARGE);
  await assert.rejects(blobs.delete("blob", { snapshots: "only" }), refused("BlobNotFound"));
  await blobs.delete("blob");
  await assert.rejects(getBlockList(blobs.context, blobs.use("blob")), refused("BlobNotFound"));
  await assert.rejects(blobs.delete("blob"), refused("BlobNotFound"));
  await blobs.sweep();
  assert.equal(blobs.bytesInExtents(), 0);
});

test("deleting only snapshots fails if there are none, and never deletes the blob", async () => {
  const blobs = await Blobs.open();
  await blobs.put("blob", "text");
  await assert.rejects(blobs.delete("blob", { snapshots: "only" }), refused("BlobNotFound"));
  assert.equal(await blobs.text("blob"), "text");
});
