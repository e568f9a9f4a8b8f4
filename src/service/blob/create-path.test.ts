import assert from "node:assert/strict";
import { test } from "node:test";
import { etagOf } from "../../base/stamp.ts";
import { NO_CONDITIONS } from "../../rules/conditions.ts";
import { LEASE_ID, NO_PROPERTIES, refused } from "./blobs.fixture.ts";
import { getBlobProperties } from "./get-blob-properties.ts";
import { Paths } from "./paths.fixture.ts";

const acquire = {
  action: "acquire",
  proposedId: LEASE_ID,
  isNewId: false,
  durationSeconds: 15,
} as const;

test("a new file is empty and has its properties, a new directory is a marked blob", async () => {
  const paths = await Paths.open();
  const properties = { ...NO_PROPERTIES, contentType: "text/plain" };
  const metadata: [string, string][] = [["a", "1"]];
  await paths.create("file", "f", { properties, metadata });
  await paths.create("directory", "d", { metadata });
  const file = await getBlobProperties(paths.blobs.context, paths.blobs.use("f"));
  assert.equal(file.blob.content.length, 0);
  assert.equal(file.blob.properties.contentType, "text/plain");
  assert.deepEqual(file.blob.metadata, metadata);
  const directory = await getBlobProperties(paths.blobs.context, paths.blobs.use("d"));
  assert.deepEqual(directory.blob.metadata, [...metadata, ["hdi_isfolder", "true"]]);
});

test("a file replaces a file with its data, but not if it must be new", async () => {
  const paths = await Paths.open();
  await paths.write("f", "old");
  await paths.append("f", 3, "more");
  const isNew = { conditions: { ...NO_CONDITIONS, ifNoneMatch: ["*"] } };
  await assert.rejects(paths.create("file", "f", isNew), refused("BlobAlreadyExists"));
  assert.equal(await paths.blobs.text("f"), "old");
  await paths.create("file", "f");
  assert.equal(await paths.blobs.text("f"), "");
  await assert.rejects(paths.flush("f", 4), refused("InvalidFlushPosition"));
});

test("a file and a directory do not replace each other", async () => {
  const paths = await Paths.open();
  await paths.create("file", "f");
  await paths.create("directory", "d");
  await paths.create("file", "e/below");
  await assert.rejects(paths.create("directory", "f"), refused("PathConflict"));
  await assert.rejects(paths.create("file", "d"), refused("PathConflict"));
  await assert.rejects(paths.create("file", "e"), refused("PathConflict"));
  await paths.create("directory", "e");
  assert.deepEqual(await paths.list(), ["d/", "e/", "f"]);
});

test("a path can begin with a lease, which guards it", async () => {
  const paths = await Paths.open();
  const { etag } = await paths.create("file", "f", { lease: acquire });
  await assert.rejects(paths.create("file", "f"), refused("LeaseIdMissing"));
  await assert.rejects(paths.append("f", 0, "a"), refused("LeaseIdMissing"));
  await assert.rejects(paths.delete("f"), refused("LeaseIdMissing"));
  await paths.append("f", 0, "a", { leaseId: LEASE_ID });
  const conditions = { ...NO_CONDITIONS, ifMatch: [etagOf(etag)] };
  await paths.delete("f", { leaseId: LEASE_ID, conditions });
});
