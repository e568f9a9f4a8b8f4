import assert from "node:assert/strict";
import { test } from "node:test";
import type { ByteRange } from "../../base/byte-range.ts";
import { Fault } from "../../base/fault.ts";
import { RANGE_DIGEST_BYTES_MAX } from "../../base/limits.ts";
import { etagOf } from "../../base/stamp.ts";
import { crc64 } from "../../machine/crc64.ts";
import { NO_CONDITIONS } from "../../rules/conditions.ts";
import { Blobs, bytesOf, refused } from "./blobs.fixture.ts";
import { getBlob } from "./get-blob.ts";

function read(blobs: Blobs, blob: string, range: ByteRange | null, crc = false) {
  const digests = crc ? { md5: false, crc64: true } : null;
  return getBlob(blobs.context, { ...blobs.use(blob), range, digests });
}

test("a range is cut at the end of the blob, and must begin before it", async () => {
  const blobs = await Blobs.open();
  await blobs.put("blob", "0123456789");
  const text = async (from: number, to: number | null) =>
    (await bytesOf(await read(blobs, "blob", { from, to }))).toString();
  assert.equal(await text(0, 0), "0");
  assert.equal(await text(3, 5), "345");
  assert.equal(await text(7, null), "789");
  assert.equal(await text(9, 1_000), "9");
  await assert.rejects(text(10, null), (error) => {
    assert.ok(error instanceof Fault && error.code === "InvalidRange");
    return error.detail["Content-Range"] === "bytes */10";
  });
});

test("an empty blob can be read whole but not by range", async () => {
  const blobs = await Blobs.open();
  await blobs.put("empty", "");
  assert.equal((await bytesOf(await read(blobs, "empty", null))).length, 0);
  await assert.rejects(read(blobs, "empty", { from: 0, to: null }), refused("InvalidRange"));
});

test("a small blob is returned whole, without further reads", async () => {
  const blobs = await Blobs.open();
  await blobs.put("blob", "small");
  const { reading } = await read(blobs, "blob", null);
  assert.equal(reading.whole?.toString(), "small");
  reading.close();
});

test("a digest of a range covers exactly its bytes, and has a limit", async () => {
  const blobs = await Blobs.open();
  const bytes = Buffer.alloc(RANGE_DIGEST_BYTES_MAX + 2);
  for (let at = 0; at + 4 <= bytes.length; at += 4) bytes.writeUInt32LE(at, at);
  await blobs.stage("blob", "AAAA", bytes);
  await blobs.commit("blob", ["AAAA"]);
  const to = RANGE_DIGEST_BYTES_MAX;
  const found = await read(blobs, "blob", { from: 1, to }, true);
  assert.deepEqual(found.crc64, crc64(bytes.subarray(1, to + 1)));
  assert.ok((await bytesOf(found)).equals(bytes.subarray(1, to + 1)));
  await assert.rejects(
    read(blobs, "blob", { from: 1, to: to + 1 }, true),
    refused("OutOfRangeInput"),
  );
});

test("a Not Modified answer carries the current ETag", async () => {
  const blobs = await Blobs.open();
  const { etag } = await blobs.put("blob", "text");
  const conditions = { ...NO_CONDITIONS, ifNoneMatch: [etagOf(etag)] };
  const asked = { ...blobs.use("blob"), conditions, range: null, digests: null };
  await assert.rejects(getBlob(blobs.context, asked), (error) => {
    assert.ok(error instanceof Fault && error.code === "NotModified");
    return error.detail.ETag === `"${etagOf(etag)}"`;
  });
});
