import assert from "node:assert/strict";
import { test } from "node:test";
import { Blobs, refused } from "./blobs.fixture.ts";
import { getBlockList } from "./get-block-list.ts";

const LARGE = Buffer.alloc(100_000, "lazuli");

test("a deleted blob takes its uncommitted blocks with it, and all of its space", async () => {
  const blobs = await Blobs.open();
  await blobs.put("blob", LARGE);
  await blobs.stage("blob", "AAAA", LARGE);
  await blobs.delete("blob", { snapshots: "include" });
  await assert.rejects(blobs.text("blob"), refused("BlobNotFound"));
  await assert.rejects(getBlockList(blobs.context, blobs.use("blob")), refused("BlobNotFound"));
  await blobs.sweep();
  assert.equal(blobs.bytesInExtents(), 0);
});

test("uncommitted blocks alone are deleted by their blob's name, with all of their space", async () => {
  const blobs = await Blobs.open();
  await blobs.stage("blob", "AAAA", LARGE);
  await assert.rejects(blobs.delete("blob", { snapshots: "only" }), refused("BlobNotFound"));
  await blobs.delete("blob");
  await assert.rejects(getBlockList(blobs.context, blobs.use("blob")), refused("BlobNotFound"));
  await assert.rejects(blobs.delete("blob"), refused("BlobNotFound"));
  await blobs.sweep();
  assert.equal(blobs.bytesInExtents(), 0);
});

test("deleting only snapshots finds nothing where there are none, and leaves the blob alone", async () => {
  const blobs = await Blobs.open();
  await blobs.put("blob", "text");
  await assert.rejects(blobs.delete("blob", { snapshots: "only" }), refused("BlobNotFound"));
  assert.equal(await blobs.text("blob"), "text");
});
