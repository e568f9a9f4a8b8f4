import assert from "node:assert/strict";
import { test } from "node:test";
import { etagOf } from "../../base/stamp.ts";
import { NO_CONDITIONS } from "../../rules/conditions.ts";
import { bytesOf, LEASE_ID, NO_PROPERTIES, refused } from "./blobs.fixture.ts";
import { getBlobProperties } from "./get-blob-properties.ts";
import { getBlockList } from "./get-block-list.ts";
import { Paths } from "./paths.fixture.ts";

async function withFile(): Promise<Paths> {
  const paths = await Paths.open();
  await paths.create("file", "f");
  return paths;
}

const text = (paths: Paths) => paths.blobs.text("f");
const etag = async (paths: Paths) =>
  (await getBlobProperties(paths.blobs.context, paths.blobs.use("f"))).blob.etag;

test("data shows once it is flushed, and only then the ETag changes", async () => {
  const paths = await withFile();
  const before = await etag(paths);
  assert.equal((await paths.append("f", 0, "bytes")).blob.etag, before);
  assert.equal(await text(paths), "");
  assert.equal(await etag(paths), before);
  const { blob } = await paths.flush("f", 5);
  assert.equal(await text(paths), "bytes");
  assert.notEqual(blob.etag, before);
  assert.equal(await etag(paths), blob.etag);
});

test("data may come in any order and at once; the last of one position counts", async () => {
  const paths = await withFile();
  await Promise.all([
    paths.append("f", 6, "ef"),
    paths.append("f", 0, "ab"),
    paths.append("f", 2, "cdcd"),
  ]);
  await paths.append("f", 2, "CDCD");
  await paths.flush("f", 8);
  assert.equal(await text(paths), "abCDCDef");
});

test("a file grows by many flushes, in one piece or several, over and beyond a read", async () => {
  const paths = await withFile();
  const open = async () => paths.blobs.open("f");
  let whole = "";
  for (let round = 0; round < 40; round++) {
    const piece = `${round}:${"x".repeat(round === 7 ? 40_000 : round)}`;
    const reading = await open();
    await paths.append("f", whole.length, piece);
    await paths.append("f", whole.length + piece.length, "|");
    await paths.flush("f", whole.length + piece.length + 1);
    assert.equal((await bytesOf(reading)).toString(), whole);
    whole += `${piece}|`;
    if (round % 10 === 0) await paths.blobs.sweep();
  }
  assert.equal(await text(paths), whole);
  await paths.blobs.sweep();
  assert.equal(await text(paths), whole);
  await paths.delete("f");
  await paths.blobs.sweep();
  assert.equal(await paths.blobs.recordsOfContents(), 0);
});

test("a gap, an overlap or another length is refused, and nothing is flushed", async () => {
  const paths = await withFile();
  await paths.append("f", 0, "ab");
  await paths.append("f", 4, "ef");
  for (const position of [0, 1, 3, 4, 6]) {
    if (position === 0) continue;
    await assert.rejects(paths.flush("f", position), refused("InvalidFlushPosition"));
  }
  await paths.append("f", 2, "cde");
  await assert.rejects(paths.flush("f", 6), refused("InvalidFlushPosition"));
  assert.equal(await text(paths), "");
  await paths.append("f", 2, "cd");
  await paths.flush("f", 6);
  assert.equal(await text(paths), "abcdef");
});

test("data behind the position is dropped, or retained for the next flush", async () => {
  const paths = await withFile();
  for (const [at, piece] of [
    [0, "a"],
    [1, "b"],
    [2, "c"],
    [3, "d"],
  ] as const) {
    await paths.append("f", at, piece);
  }
  await paths.flush("f", 1, { retains: true });
  assert.equal(await text(paths), "a");
  await paths.flush("f", 3, { retains: true });
  assert.equal(await text(paths), "abc");
  await paths.flush("f", 3);
  await assert.rejects(paths.flush("f", 4), refused("InvalidFlushPosition"));
  await paths.delete("f");
  await paths.blobs.sweep();
  assert.equal(await paths.blobs.recordsOfContents(), 0);
});

test("an empty flush passes, and data before the end of the file is refused", async () => {
  const paths = await withFile();
  await paths.flush("f", 0);
  await paths.append("f", 0, "abc", { flushes: true });
  assert.equal(await text(paths), "abc");
  await assert.rejects(paths.append("f", 2, "x"), refused("InvalidQueryParameterValue"));
  await assert.rejects(paths.append("missing", 0, "x"), refused("BlobNotFound"));
  await paths.create("directory", "d");
  await assert.rejects(paths.append("d", 0, "x"), refused("PathConflict"));
  await assert.rejects(paths.flush("d", 0), refused("PathConflict"));
});

test("a flush keeps properties that it does not name, except for the MD5", async () => {
  const paths = await Paths.open();
  const contentMd5 = Buffer.alloc(16, 1);
  const properties = { ...NO_PROPERTIES, contentType: "t", contentEncoding: "e", contentMd5 };
  await paths.create("file", "f", { properties });
  await paths.append("f", 0, "a");
  const { blob } = await paths.flush("f", 1, { properties: { contentType: "u" } });
  assert.deepEqual(blob.properties, {
    ...properties,
    contentType: "u",
    contentMd5: null,
  });
  const conditions = { ...NO_CONDITIONS, ifMatch: [etagOf(1n)] };
  await assert.rejects(paths.flush("f", 1, { conditions }), refused("ConditionNotMet"));
});

test("an append or flush can acquire, renew and release the lease of its file", async () => {
  const paths = await withFile();
  const acquire = {
    action: "acquire",
    proposedId: LEASE_ID,
    isNewId: false,
    durationSeconds: 15,
  } as const;
  const state = async () =>
    (await getBlobProperties(paths.blobs.context, paths.blobs.use("f"))).lease?.state;
  await paths.append("f", 0, "a", { lease: { action: "acquire", acquire } });
  assert.equal(await state(), "leased");
  await assert.rejects(paths.append("f", 1, "b"), refused("LeaseIdMissing"));
  paths.blobs.clock.advance(10_000);
  const leaseId = LEASE_ID;
  const renewed = await paths.append("f", 1, "b", { leaseId, lease: { action: "auto-renew" } });
  assert.equal(renewed.isLeaseRenewed, true);
  paths.blobs.clock.advance(10_000);
  assert.equal(await state(), "leased");
  await paths.flush("f", 2, { leaseId, lease: { action: "release" } });
  assert.equal(await state(), "available");
  await paths.append("f", 2, "c", { flushes: true, lease: { action: "acquire-release", acquire } });
  assert.equal(await state(), "available");
  assert.equal(await text(paths), "abc");
});

test("the Blob service and Data Lake do not write parts of the same file", async () => {
  const paths = await withFile();
  await paths.append("f", 0, "a");
  const blocks = await getBlockList(paths.blobs.context, paths.blobs.use("f"));
  assert.deepEqual([blocks.committed, blocks.uncommitted], [[], []]);
  await assert.rejects(paths.blobs.stage("f", "AAAA", "x"), refused("BlobOperationNotSupported"));
  await assert.rejects(paths.blobs.commit("f", []), refused("BlobOperationNotSupported"));
  await paths.blobs.put("f", "whole");
  assert.equal(await text(paths), "whole");
  await assert.rejects(paths.append("f", 5, "x"), refused("InvalidFlushOperation"));
  await assert.rejects(paths.flush("f", 5), refused("InvalidFlushOperation"));
});
