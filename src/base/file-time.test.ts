import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { fileTimeOfIso, fileTimeOfStamp, isoOfFileTime } from "./file-time.ts";
import { stampOfIso } from "./stamp.ts";

test("file times begin with 1601 and end with 9999", () => {
  assert.equal(fileTimeOfIso("1601-01-01T00:00:00.0000000Z"), 0n);
  assert.equal(fileTimeOfIso("1600-12-31T23:59:59.9999999Z"), null);
  const last = fileTimeOfIso("9999-12-31T23:59:59.9999999Z");
  assert.equal(last && isoOfFileTime(last), "9999-12-31T23:59:59.9999999Z");
});

test("every file time can be formatted and parsed", () => {
  fc.assert(
    fc.property(fc.bigInt(0n, 2_650_467_743_999_999_999n), (time) => {
      assert.equal(fileTimeOfIso(isoOfFileTime(time)), time);
    }),
  );
});

test("fractions may be short or missing", () => {
  const rewritten = (text: string) => isoOfFileTime(fileTimeOfIso(text) ?? -1n);
  assert.equal(rewritten("2026-11-16T00:17:23Z"), "2026-11-16T00:17:23.0000000Z");
  assert.equal(rewritten("2026-11-16T00:17:23.5Z"), "2026-11-16T00:17:23.5000000Z");
  assert.equal(fileTimeOfIso("2026-02-30T00:00:00.0000000Z"), null);
  assert.equal(fileTimeOfIso("yesterday"), null);
});

test("a stamp and its file time have the same format", () => {
  const iso = "2026-11-16T00:17:23.1234567Z";
  assert.equal(isoOfFileTime(fileTimeOfStamp(stampOfIso(iso) ?? 0n)), iso);
});
