import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "../../base/fault.ts";
import { rangeDigestsOf, rangeOf } from "./byte-range.ts";
import type { RequestHeaders } from "./http/exchange.ts";

function sent(headers: Record<string, string>): RequestHeaders {
  return { get: (name) => headers[name], raw: Object.entries(headers).flat() };
}

function refused(code: string, header: string): (error: unknown) => boolean {
  return (error) =>
    error instanceof Fault && error.code === code && error.detail.HeaderName === header;
}

test("a range has a first byte and an optional last byte", () => {
  assert.deepEqual(rangeOf(sent({ range: "bytes=0-499" })), { from: 0, to: 499 });
  assert.deepEqual(rangeOf(sent({ range: "bytes=500-" })), { from: 500, to: null });
  assert.deepEqual(rangeOf(sent({ "x-ms-range": "bytes=7-7" })), { from: 7, to: 7 });
  assert.equal(rangeOf(sent({})), null);
});

test("a range may end beyond any possible size", () => {
  const range = `bytes=5-${2n ** 63n - 1n}`;
  const expected = { from: 5, to: Number.MAX_SAFE_INTEGER };
  assert.deepEqual(rangeOf(sent({ range })), expected);
  assert.deepEqual(rangeOf(sent({ "x-ms-range": range })), expected);
});

test("x-ms-range wins over Range", () => {
  const both = sent({ range: "bytes=0-1", "x-ms-range": "bytes=2-3" });
  assert.deepEqual(rangeOf(both), { from: 2, to: 3 });
});

const MALFORMED = [
  "bytes=-5",
  "bytes=0-1,3-4",
  "bytes=5-4",
  "bytes=",
  "bytes=a-b",
  "lines=0-1",
  "bytes=0-99999999999999999999",
  "0-1",
];

test("a malformed Range is ignored, as HTTP requires", () => {
  for (const range of MALFORMED) assert.equal(rangeOf(sent({ range })), null, range);
});

test("bytes=None-, which the Python SDK of 2015 sends, means no range", () => {
  assert.equal(rangeOf(sent({ "x-ms-range": "bytes=None-" })), null);
});

test("a malformed x-ms-range is refused", () => {
  for (const range of MALFORMED) {
    const headers = sent({ "x-ms-range": range });
    assert.throws(() => rangeOf(headers), refused("InvalidHeaderValue", "x-ms-range"), range);
  }
});

test("a range checksum needs a range and is either MD5 or CRC-64", () => {
  const md5 = "x-ms-range-get-content-md5";
  const crc64 = "x-ms-range-get-content-crc64";
  const range = { from: 0, to: 9 };
  assert.deepEqual(rangeDigestsOf(sent({ [md5]: "true" }), range), { md5: true, crc64: false });
  assert.deepEqual(rangeDigestsOf(sent({ [crc64]: "True" }), range), { md5: false, crc64: true });
  assert.equal(rangeDigestsOf(sent({ [md5]: "false" }), null), null);
  assert.throws(
    () => rangeDigestsOf(sent({ [md5]: "true" }), null),
    refused("InvalidHeaderValue", md5),
  );
  assert.throws(
    () => rangeDigestsOf(sent({ [crc64]: "yes" }), range),
    refused("InvalidHeaderValue", crc64),
  );
  assert.throws(
    () => rangeDigestsOf(sent({ [md5]: "true", [crc64]: "true" }), range),
    refused("InvalidHeaderValue", crc64),
  );
});
