import assert from "node:assert/strict";
import { test } from "node:test";
import { OWNER } from "../../rules/access.ts";
import { NO_CONDITIONS } from "../../rules/conditions.ts";
import { bytesOf, LEASE_ID, refused } from "./blobs.fixture.ts";
import { createContainer } from "./create-container.ts";
import { getBlobProperties } from "./get-blob-properties.ts";
import { leaseBlob } from "./lease-blob.ts";
import { Paths } from "./paths.fixture.ts";
import { undeletePath } from "./undelete-path.ts";

/** Operations on paths of a hierarchical container. */

const LEASE = {
  action: "acquire",
  proposedId: LEASE_ID,
  isNewId: false,
  durationSeconds: 15,
} as const;

const IS_NEW = { conditions: { ...NO_CONDITIONS, ifNoneMatch: ["*"] } };

async function filled(): Promise<Paths> {
  const paths = await Paths.openHierarchical();
  for (const name of ["a/b/c", "a/d", "a-x", "a.y", "e/f", "g"]) await paths.write(name, name);
  return paths;
}

function etagOf(paths: Paths, name: string): Promise<bigint> {
  return getBlobProperties(paths.blobs.context, paths.blobs.use(name)).then(
    ({ blob }) => blob.etag,
  );
}

test("a write creates the directories above it", async () => {
  const paths = await filled();
  assert.deepEqual(await paths.list(), ["a/", "a-x", "a.y", "e/", "g"]);
  assert.deepEqual(await paths.list({ directory: "a" }), ["a/b/", "a/d"]);
});

test("a recursive list shows each directory before what lies in it", async () => {
  const paths = await filled();
  const all = ["a/", "a/b/", "a/b/c", "a/d", "a-x", "a.y", "e/", "e/f", "g"];
  assert.deepEqual(await paths.list({ isRecursive: true }), all);
  const below = ["a/b/", "a/b/c", "a/d"];
  assert.deepEqual(await paths.list({ directory: "a", isRecursive: true }), below);
});

test("pages of any size show the same", async () => {
  const paths = await filled();
  for (const [directory, isRecursive] of [
    ["", true],
    ["", false],
    ["a", true],
  ] as const) {
    const whole = await paths.list({ directory, isRecursive });
    for (let resultsMax = 1; resultsMax <= whole.length; resultsMax++) {
      const found: string[] = [];
      let after: string | null = null;
      do {
        const asked: Parameters<Paths["page"]>[0] = { directory, isRecursive, resultsMax, after };
        const page: { names: string[]; next: string | null } = await paths.page(asked);
        assert.ok(page.names.length <= resultsMax);
        found.push(...page.names);
        after = page.next;
      } while (after !== null);
      assert.deepEqual(found, whole);
    }
  }
});

test("a list goes on behind a path that has gone meanwhile", async () => {
  const paths = await filled();
  const { names, next } = await paths.page({ isRecursive: true, resultsMax: 3 });
  assert.deepEqual(names, ["a/", "a/b/", "a/b/c"]);
  await paths.delete("a", { isRecursive: true });
  const rest = await paths.list({ isRecursive: true, after: next });
  assert.deepEqual(rest, ["a-x", "a.y", "e/", "e/f", "g"]);
});

test("a list can begin at a path, and needs its directory", async () => {
  const paths = await filled();
  assert.deepEqual(await paths.list({ beginFrom: "e" }), ["e/", "g"]);
  assert.deepEqual(await paths.list({ directory: "a", beginFrom: "c" }), ["a/d"]);
  const fromB = ["a/d", "a-x", "a.y", "e/", "e/f", "g"];
  assert.deepEqual(await paths.list({ isRecursive: true, beginFrom: "a/c" }), fromB);
  await assert.rejects(paths.list({ directory: "missing" }), refused("BlobNotFound"));
  await assert.rejects(paths.list({ directory: "g" }), refused("BlobNotFound"));
});

test("a directory that exists keeps what it holds when it is created again", async () => {
  const paths = await filled();
  await paths.create("directory", "a", { metadata: [["k", "v"]] });
  assert.deepEqual(await paths.list({ directory: "a" }), ["a/b/", "a/d"]);
  await assert.rejects(paths.create("directory", "a", IS_NEW), refused("BlobAlreadyExists"));
  await assert.rejects(paths.create("file", "a", IS_NEW), refused("BlobAlreadyExists"));
  await assert.rejects(paths.create("file", "a"), refused("PathConflict"));
  await assert.rejects(paths.create("directory", "g"), refused("PathConflict"));
  await assert.rejects(paths.create("file", "g/h"), refused("PathConflict"));
  await assert.rejects(paths.blobs.put("a", "bytes"), refused("PathConflict"));
  await assert.rejects(paths.blobs.stage("a", "AAAA", "bytes"), refused("PathConflict"));
});

test("a renamed directory takes along what lies in it: bytes, ETags, leases and snapshots", async () => {
  const paths = await filled();
  const { context } = paths.blobs;
  await leaseBlob(context, { ...paths.blobs.use("a/d"), lease: LEASE });
  const snapshot = await paths.blobs.snapshot("a/b/c");
  await paths.append("a/b/c", 5, " and more");
  const etag = await etagOf(paths, "a/b/c");
  const download = await paths.blobs.open("a/b/c");
  await paths.rename("a", "e/n");
  assert.deepEqual(await paths.list({ directory: "e" }), ["e/f", "e/n/"]);
  assert.equal((await bytesOf(download)).toString(), "a/b/c");
  assert.equal(await paths.blobs.text("e/n/b/c"), "a/b/c");
  assert.equal(await paths.blobs.text("e/n/b/c", snapshot), "a/b/c");
  assert.equal(await etagOf(paths, "e/n/b/c"), etag);
  await assert.rejects(paths.delete("e/n/d"), refused("LeaseIdMissing"));
  await assert.rejects(paths.blobs.text("a/b/c"), refused("BlobNotFound"));
  await paths.flush("e/n/b/c", 14);
  assert.equal(await paths.blobs.text("e/n/b/c"), "a/b/c and more");
});

test("a renamed file takes along its snapshots and what is not flushed", async () => {
  const paths = await filled();
  const snapshot = await paths.blobs.snapshot("a/d");
  await paths.append("a/d", 3, "!");
  await paths.append("g", 1, "lost");
  await paths.rename("a/d", "g");
  assert.equal(await paths.blobs.text("g"), "a/d");
  assert.equal(await paths.blobs.text("g", snapshot), "a/d");
  await paths.flush("g", 4);
  assert.equal(await paths.blobs.text("g"), "a/d!");
  await assert.rejects(paths.blobs.text("a/d", snapshot), refused("BlobNotFound"));
  await paths.delete("g");
  await paths.delete("a", { isRecursive: true });
  for (const name of ["a-x", "a.y"]) await paths.delete(name);
  await paths.delete("e", { isRecursive: true });
  await paths.blobs.sweep();
  assert.equal(await paths.blobs.recordsOfContents(), 0);
});

test("a rename leads into another container", async () => {
  const paths = await filled();
  const at = { account: "account", container: "second" };
  const made = { at, access: OWNER, publicAccess: "none", metadata: [] } as const;
  await createContainer(paths.blobs.context, { ...made, isDataLake: true });
  await paths.rename("a", "", { at: { ...at, blob: "n" } });
  assert.deepEqual(await paths.list({ at, isRecursive: true }), ["n/", "n/b/", "n/b/c", "n/d"]);
  assert.deepEqual(await paths.list(), ["a-x", "a.y", "e/", "g"]);
  const flat = { account: "account", container: "flat" };
  await createContainer(paths.blobs.context, { ...made, at: flat });
  await assert.rejects(
    paths.rename("g", "", { at: { ...flat, blob: "g" } }),
    refused("InvalidSourceOrDestinationResourceType"),
  );
});

test("what cannot be renamed stays as it is", async () => {
  const paths = await filled();
  const before = await paths.list({ isRecursive: true });
  await assert.rejects(paths.rename("missing", "x"), refused("SourcePathNotFound"));
  await assert.rejects(paths.rename("g/x", "x"), refused("SourcePathNotFound"));
  await assert.rejects(paths.rename("a", "a/e"), refused("InvalidRenameSourcePath"));
  await assert.rejects(paths.rename("a", "a//b/e/"), refused("InvalidRenameSourcePath"));
  await assert.rejects(paths.rename("a", "a"), refused("InvalidRenameSourcePath"));
  const mixed = refused("InvalidSourceOrDestinationResourceType");
  await assert.rejects(paths.rename("a", "g"), mixed);
  await assert.rejects(paths.rename("g", "a"), mixed);
  await assert.rejects(paths.rename("a", "e"), refused("DirectoryNotEmpty"));
  await assert.rejects(paths.rename("a/b", "a"), refused("DirectoryNotEmpty"));
  await assert.rejects(paths.rename("g", "g/h"), refused("InvalidDestinationPath"));
  const parent = refused("RenameDestinationParentPathNotFound");
  await assert.rejects(paths.rename("g", "x/y"), parent);
  await assert.rejects(paths.rename("g", "a-x", IS_NEW), refused("BlobAlreadyExists"));
  assert.deepEqual(await paths.list({ isRecursive: true }), before);
  await paths.rename("g", "/g/");
  assert.equal(await paths.blobs.text("g"), "g");
});

test("a renamed directory replaces an empty one", async () => {
  const paths = await filled();
  await paths.create("directory", "empty");
  await paths.rename("a", "empty");
  const all = ["a-x", "a.y", "e/", "e/f", "empty/", "empty/b/", "empty/b/c", "empty/d", "g"];
  assert.deepEqual(await paths.list({ isRecursive: true }), all);
});

test("a leased path is renamed with its id; a lease at the new name is ended", async () => {
  const paths = await filled();
  const { context } = paths.blobs;
  for (const name of ["a", "g"])
    await leaseBlob(context, { ...paths.blobs.use(name), lease: LEASE });
  await assert.rejects(paths.rename("a", "n"), refused("LeaseIdMissing"));
  await paths.rename("a-x", "g");
  assert.equal(await paths.blobs.text("g"), "a-x");
  const { lease } = await getBlobProperties(context, paths.blobs.use("g"));
  assert.equal(lease?.state, "available");
});

test("a directory is deleted if it is empty, or with everything in it", async () => {
  const paths = await filled();
  await assert.rejects(paths.delete("a"), refused("DirectoryNotEmpty"));
  assert.equal((await paths.delete("a", { isRecursive: true })).hasMore, false);
  await assert.rejects(paths.blobs.text("a/b/c"), refused("BlobNotFound"));
  await paths.create("directory", "a");
  assert.deepEqual(await paths.list({ directory: "a" }), []);
  await paths.delete("a");
  await assert.rejects(paths.delete("a"), refused("BlobNotFound"));
});

test("the sweeper frees what a deleted directory held, and what lies below it, round by round", async () => {
  const paths = await Paths.openHierarchical();
  const names = Array.from({ length: 600 }, (_, at) => `d/${at % 7}/${at % 3}/${at}`);
  for (const name of names) await paths.blobs.put(name, "x".repeat(20));
  await paths.blobs.snapshot("d/0/0/0");
  await paths.append("d/new", 0, "bytes").catch(refused("BlobNotFound"));
  await paths.create("file", "d/new");
  await paths.append("d/new", 0, "never flushed");
  await paths.blobs.stage("d/staged", "AAAA", "never committed");
  await paths.delete("d", { isRecursive: true });
  await paths.blobs.sweep();
  assert.equal(await paths.blobs.recordsOfContents(), 0);
  assert.deepEqual(await paths.list({ isRecursive: true }), []);
});

test("a deleted directory comes back with everything in it", async () => {
  const paths = await filled();
  const { blobs } = paths;
  await blobs.keepDeleted(1);
  await paths.delete("a", { isRecursive: true });
  await paths.write("a/new", "another directory of this name");
  await paths.delete("a", { isRecursive: true });
  await undeletePath(blobs.context, { ...blobs.use("a"), deletionId: null });
  assert.deepEqual(await paths.list({ directory: "a" }), ["a/new"]);
  const again = undeletePath(blobs.context, { ...blobs.use("a"), deletionId: null });
  await assert.rejects(again, refused("BlobAlreadyExists"));
  await paths.rename("a", "n");
  await undeletePath(blobs.context, { ...blobs.use("a"), deletionId: null });
  assert.deepEqual(await paths.list({ directory: "a" }), ["a/b/", "a/d"]);
  assert.equal(await blobs.text("a/b/c"), "a/b/c");
  await assert.rejects(
    undeletePath(blobs.context, { ...blobs.use("a/b"), deletionId: null }),
    refused("BlobNotFound"),
  );
});

test("after its retention, a deleted directory goes for good", async () => {
  const paths = await filled();
  const { blobs } = paths;
  await blobs.keepDeleted(1);
  for (const name of ["a", "e"]) await paths.delete(name, { isRecursive: true });
  for (const name of ["a-x", "a.y", "g"]) await paths.delete(name);
  await blobs.sweep();
  blobs.clock.advance(2 * 86_400_000);
  await assert.rejects(
    undeletePath(blobs.context, { ...blobs.use("a"), deletionId: null }),
    refused("BlobNotFound"),
  );
  await blobs.sweep();
  assert.equal(await blobs.recordsOfContents(), 0);
});

test("an expired file is gone: for reads, lists, its directory, and a new file of its name", async () => {
  const paths = await Paths.openHierarchical();
  const { blobs } = paths;
  const expiry = { kind: "fromNow", ms: 1_000 } as const;
  for (const name of ["d/a", "d/b", "r"]) await paths.create("file", name, { expiry });
  await paths.append("d/a", 0, "bytes", { flushes: true });
  await paths.rename("d/b", "d/c");
  await paths.append("r", 0, "never flushed");
  await blobs.snapshot("r");
  assert.deepEqual(await paths.list({ directory: "d" }), ["d/a", "d/c"]);
  blobs.clock.advance(1_000);
  await assert.rejects(blobs.text("d/a"), refused("BlobNotFound"));
  assert.deepEqual(await paths.list({ isRecursive: true }), ["d/"]);
  await paths.create("file", "d/a", IS_NEW);
  await blobs.sweep();
  assert.deepEqual(await paths.list({ directory: "d" }), ["d/a"]);
  await paths.delete("d/a");
  await paths.delete("d");
  await blobs.sweep();
  assert.equal(await blobs.recordsOfContents(), 0);
});
