import assert from "node:assert/strict";
import { test } from "node:test";
import { OWNER } from "../../rules/access.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import { Blobs, refused, untouchable } from "./blobs.fixture.ts";
import { findPlace } from "./find-path.ts";
import { readBlob, readContainer } from "./records.ts";

const AT = { account: "account", container: "container" };

test("a flat container has one place for each name, slashes included", async () => {
  const blobs = await Blobs.open();
  await blobs.put("a/b", "bytes");
  assert.deepEqual(await placeOf(blobs, "a/b"), { depth: 0, name: "a/b", missing: null });
  assert.equal(await blobs.text("a/b"), "bytes");
});

test("a hierarchical container has a directory for each part of a name but the last", async () => {
  const blobs = await Blobs.openHierarchical();
  await blobs.put("a/b/c", "bytes");
  assert.deepEqual(await placeOf(blobs, "a/b/c"), { depth: 2, name: "c", missing: [] });
  assert.deepEqual(await placeOf(blobs, "a/x/y"), { depth: 1, name: "y", missing: ["x"] });
  assert.equal(await blobs.text("a/b/c"), "bytes");
});

test("the same name in another directory is another blob", async () => {
  const blobs = await Blobs.openHierarchical();
  await blobs.put("c", "of the root");
  await blobs.put("a/c", "of a");
  await blobs.put("b/c", "of b");
  assert.equal(await blobs.text("c"), "of the root");
  assert.equal(await blobs.text("a/c"), "of a");
  assert.equal(await blobs.text("b/c"), "of b");
  await assert.rejects(blobs.text("x/c"), refused("BlobNotFound"));
});

test("slashes that repeat or end a path name nothing", async () => {
  const blobs = await Blobs.openHierarchical();
  await blobs.put("a//b", "bytes");
  assert.equal(await blobs.text("a/b"), "bytes");
  assert.equal(await blobs.text("/a/b/"), "bytes");
});

test("slashes alone name nothing that could be written or read", async () => {
  const blobs = await Blobs.openHierarchical();
  for (const name of ["/", "//"]) {
    await assert.rejects(blobs.put(name, untouchable()), refused("InvalidResourceName"));
    await assert.rejects(blobs.text(name), refused("InvalidResourceName"));
  }
  const flat = await Blobs.open();
  await flat.put("/", "bytes");
  assert.equal(await flat.text("/"), "bytes");
});

test("nothing lies below a file", async () => {
  const blobs = await Blobs.openHierarchical();
  await blobs.put("a/file", "bytes");
  await assert.rejects(blobs.text("a/file/b"), refused("BlobNotFound"));
  await assert.rejects(blobs.put("a/file/b", untouchable()), refused("PathConflict"));
  await assert.rejects(blobs.stage("a/file/b/c", "AAAA", untouchable()), refused("PathConflict"));
});

test("blocks are staged and committed in directories, too", async () => {
  const blobs = await Blobs.openHierarchical();
  await blobs.stage("a/b", "AAAA", "one ");
  await blobs.stage("a/b", "BBBB", "two");
  await blobs.commit("a/b", ["AAAA", "BBBB"]);
  assert.equal(await blobs.text("a/b"), "one two");
});

/** How many directories lie above a name, and those that are missing. */
function placeOf(blobs: Blobs, name: string) {
  return blobs.store.read((view) => {
    const container = readContainer(view, AT) ?? assert.fail();
    const asked = { at: { ...AT, blob: name }, access: OWNER };
    const place = findPlace(view, container, asked, BLOB_NEEDS.getBlob);
    const within = place.way?.within ?? place.parent;
    let depth = 0;
    let parent: { id: bigint } = container;
    for (const part of name.split("/")) {
      if (parent.id === within.id) break;
      const id = readBlob(view, { parent, name: part })?.path?.directoryId ?? assert.fail();
      parent = { id };
      depth++;
    }
    return { depth, name: place.name, missing: place.way?.missing ?? null };
  });
}
