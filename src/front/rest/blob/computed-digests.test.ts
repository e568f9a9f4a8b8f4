import assert from "node:assert/strict";
import { test } from "node:test";
import { digestsOfBody, digestsOfSource } from "./computed-digests.ts";

const MD5 = { md5: Buffer.alloc(16), crc64: null };
const CRC64 = { md5: null, crc64: Buffer.alloc(8) };
const NEITHER = { md5: null, crc64: null };
const OLD = "2019-02-01";
const LATER = "2019-02-02";
const BEFORE_BOTH = "2026-10-05";
const BOTH = "2026-10-06";

test("a digest that the client sends is always computed", () => {
  for (const version of [OLD, LATER, BEFORE_BOTH, BOTH]) {
    for (const digests of [digestsOfBody, digestsOfSource]) {
      assert.equal(digests(version, MD5)?.md5, true);
      assert.equal(digests(version, CRC64)?.crc64, true);
    }
  }
});

test("a body without a digest gets an MD5 in old versions, and a CRC-64 since 2019-02-02", () => {
  assert.deepEqual(digestsOfBody(OLD, NEITHER), { md5: true, crc64: false });
  for (const version of [LATER, BEFORE_BOTH, BOTH]) {
    assert.deepEqual(digestsOfBody(version, NEITHER), { md5: false, crc64: true });
  }
});

test("a CRC-64 is computed beside an MD5 only since 2026-10-06", () => {
  for (const digests of [digestsOfBody, digestsOfSource]) {
    for (const version of [OLD, LATER, BEFORE_BOTH]) {
      assert.deepEqual(digests(version, MD5), { md5: true, crc64: false });
    }
    assert.deepEqual(digests(BOTH, MD5), { md5: true, crc64: true });
  }
});

test("a source without a digest need not be read", () => {
  for (const version of [OLD, BOTH]) assert.equal(digestsOfSource(version, NEITHER), null);
});
