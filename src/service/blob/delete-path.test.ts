import assert from "node:assert/strict";
import { test } from "node:test";
import { LEASE_ID, refused } from "./blobs.fixture.ts";
import { Paths } from "./paths.fixture.ts";

test("a directory is deleted if it is empty, or with everything in it", async () => {
  const paths = await Paths.open();
  await paths.create("directory", "d");
  await paths.create("directory", "d/e");
  await paths.write("d/e/f", "bytes");
  await paths.write("d-other", "bytes");
  await assert.rejects(paths.delete("d"), refused("DirectoryNotEmpty"));
  assert.deepEqual(await paths.delete("d", { isRecursive: true }), {
    hasMore: false,
    deletionId: null,
  });
  assert.deepEqual(await paths.list({ isRecursive: true }), ["d-other"]);
  await paths.create("directory", "d");
  await paths.delete("d");
  await assert.rejects(paths.delete("d"), refused("BlobNotFound"));
});

test("a directory without a blob of its own exists as long as something lies in it", async () => {
  const paths = await Paths.open();
  await paths.blobs.put("a/b", "bytes");
  await assert.rejects(paths.delete("a"), refused("DirectoryNotEmpty"));
  await paths.delete("a", { isRecursive: true });
  await assert.rejects(paths.delete("a", { isRecursive: true }), refused("BlobNotFound"));
});

test("a large flat directory is deleted by several requests, and is there until the last", async () => {
  const paths = await Paths.open();
  await paths.create("directory", "d");
  const names = Array.from({ length: 6_000 }, (_, at) => `d/${at}`);
  for (const name of names) await paths.blobs.put(name, "x");
  assert.deepEqual(await paths.delete("d", { isRecursive: true }), {
    hasMore: true,
    deletionId: null,
  });
  assert.deepEqual(await paths.list(), ["d/"]);
  const more = { isRecursive: true, isContinued: true };
  assert.deepEqual(await paths.delete("d", more), { hasMore: false, deletionId: null });
  assert.deepEqual(await paths.list({ isRecursive: true }), []);
});

test("a lease on a file guards its directory's files, and snapshots go with their file", async () => {
  const paths = await Paths.open();
  const lease = {
    action: "acquire",
    proposedId: LEASE_ID,
    isNewId: false,
    durationSeconds: 15,
  } as const;
  await paths.create("file", "d/f", { lease });
  await assert.rejects(paths.delete("d", { isRecursive: true }), refused("LeaseIdMissing"));
  await paths.write("g", "bytes");
  const snapshot = await paths.blobs.snapshot("g");
  await paths.delete("g");
  await assert.rejects(paths.blobs.text("g", snapshot), refused("BlobNotFound"));
  await paths.delete("d/f", { leaseId: LEASE_ID });
  await paths.blobs.sweep();
  assert.equal(await paths.blobs.recordsOfContents(), 0);
});
