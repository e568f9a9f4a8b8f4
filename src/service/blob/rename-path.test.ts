import assert from "node:assert/strict";
import { test } from "node:test";
import { OWNER } from "../../rules/access.ts";
import { NO_CONDITIONS } from "../../rules/conditions.ts";
import { LEASE_ID, refused } from "./blobs.fixture.ts";
import { createContainer } from "./create-container.ts";
import { getBlobProperties } from "./get-blob-properties.ts";
import { leaseBlob } from "./lease-blob.ts";
import { Paths } from "./paths.fixture.ts";

test("a file keeps bytes, properties and metadata under its new name", async () => {
  const paths = await Paths.open();
  await paths.create("file", "f", { metadata: [["a", "1"]] });
  await paths.append("f", 0, "bytes", { flushes: true });
  await paths.rename("f", "g");
  assert.equal(await paths.blobs.text("g"), "bytes");
  await assert.rejects(paths.blobs.text("f"), refused("BlobNotFound"));
  await paths.rename("g", "h", { metadata: [["b", "2"]], properties: { contentType: "t" } });
  const { blob } = await getBlobProperties(paths.blobs.context, paths.blobs.use("h"));
  assert.deepEqual(blob.metadata, [["b", "2"]]);
  assert.equal(blob.properties.contentType, "t");
  await paths.append("h", 5, "!", { flushes: true });
  assert.equal(await paths.blobs.text("h"), "bytes!");
  await paths.blobs.sweep();
  assert.equal(await paths.blobs.text("h"), "bytes!");
  await paths.delete("h");
  await paths.blobs.sweep();
  assert.equal(await paths.blobs.recordsOfContents(), 0);
});

test("a directory takes what lies in it along, also into another container", async () => {
  const paths = await Paths.open();
  await paths.create("directory", "d");
  await paths.write("d/e/f", "bytes");
  await paths.write("d-other", "bytes");
  assert.equal((await paths.rename("d", "n/m")).hasMore, false);
  assert.deepEqual(await paths.list({ isRecursive: true }), ["d-other", "n/m/", "n/m/e/f"]);
  const at = { account: "account", container: "second" };
  await createContainer(paths.blobs.context, {
    at,
    access: OWNER,
    publicAccess: "none",
    metadata: [],
  });
  await paths.rename("n/m", "", { at: { ...at, blob: "x" } });
  assert.deepEqual(await paths.list({ at, isRecursive: true }), ["x/", "x/e/f"]);
  assert.deepEqual(await paths.list({ isRecursive: true }), ["d-other"]);
});

test("a large flat directory is renamed by several requests", async () => {
  const paths = await Paths.open();
  for (let at = 0; at < 3_000; at++) await paths.blobs.put(`d/${at}`, "x");
  assert.deepEqual(await paths.rename("d", "n"), { written: null, hasMore: true });
  assert.deepEqual(await paths.list(), ["d/", "n/"]);
  const done = await paths.rename("d", "n", { isContinued: true });
  assert.deepEqual(done, { written: null, hasMore: false });
  assert.equal((await paths.list({ directory: "n" })).length, 3_000);
  assert.deepEqual(await paths.list(), ["n/"]);
});

test("what cannot be renamed stays as it is", async () => {
  const paths = await Paths.open();
  await paths.create("directory", "d");
  await paths.write("d/f", "bytes");
  await paths.write("g", "other");
  await assert.rejects(paths.rename("missing", "x"), refused("SourcePathNotFound"));
  await assert.rejects(paths.rename("d", "d/e"), refused("InvalidRenameSourcePath"));
  await assert.rejects(paths.rename("d", "d"), refused("InvalidRenameSourcePath"));
  const mixed = refused("InvalidSourceOrDestinationResourceType");
  await assert.rejects(paths.rename("d", "g"), mixed);
  await assert.rejects(paths.rename("g", "d"), mixed);
  await paths.create("directory", "empty");
  await assert.rejects(paths.rename("empty", "d"), refused("DirectoryNotEmpty"));
  const isNew = { conditions: { ...NO_CONDITIONS, ifNoneMatch: ["*"] } };
  await assert.rejects(paths.rename("d", "empty", isNew), refused("BlobAlreadyExists"));
  assert.deepEqual(await paths.list({ isRecursive: true }), ["d/", "d/f", "empty/", "g"]);
  await paths.rename("d", "empty");
  assert.deepEqual(await paths.list({ isRecursive: true }), ["empty/", "empty/f", "g"]);
  await paths.rename("g", "g");
  assert.equal(await paths.blobs.text("g"), "other");
});

test("a leased file is renamed with its id; a lease at the new name is ended", async () => {
  const paths = await Paths.open();
  const lease = {
    action: "acquire",
    proposedId: LEASE_ID,
    isNewId: false,
    durationSeconds: 15,
  } as const;
  await paths.write("f", "new");
  await paths.write("g", "old");
  for (const name of ["f", "g"]) {
    await leaseBlob(paths.blobs.context, { ...paths.blobs.use(name), lease });
  }
  await assert.rejects(paths.rename("f", "g"), refused("LeaseIdMissing"));
  const { at, access } = paths.blobs.use("f");
  const source = { at, access, conditions: NO_CONDITIONS, leaseId: LEASE_ID };
  await paths.rename("f", "g", { source });
  assert.equal(await paths.blobs.text("g"), "new");
  const { lease: kept } = await getBlobProperties(paths.blobs.context, paths.blobs.use("g"));
  assert.equal(kept?.state, "leased");
});
