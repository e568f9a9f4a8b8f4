import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { isoTime, parseHttpDate, parseIsoTime, rfc1123 } from "./time-text.ts";

const NOON = Date.UTC(2026, 10, 16, 12, 34, 56);

test("a date is formatted as in RFC 1123, whatever second is cached", () => {
  assert.equal(rfc1123(NOON), "Mon, 16 Nov 2026 12:34:56 GMT");
  assert.equal(rfc1123(NOON + 999), "Mon, 16 Nov 2026 12:34:56 GMT");
  assert.equal(rfc1123(NOON + 1000), "Mon, 16 Nov 2026 12:34:57 GMT");
  assert.equal(rfc1123(0), "Thu, 01 Jan 1970 00:00:00 GMT");
});

test("an ISO time is formatted with whole seconds", () => {
  assert.equal(isoTime(NOON + 789), "2026-11-16T12:34:56Z");
});

test("all three forms of an HTTP date are parsed", () => {
  assert.equal(parseHttpDate("Mon, 16 Nov 2026 12:34:56 GMT"), NOON);
  assert.equal(parseHttpDate("Monday, 16-Nov-26 12:34:56 GMT"), NOON);
  assert.equal(parseHttpDate("Mon Nov 16 12:34:56 2026"), NOON);
  assert.equal(parseHttpDate("Sun Nov  6 08:49:37 1994"), Date.UTC(1994, 10, 6, 8, 49, 37));
});

test("a two-digit year of the nineties is 19xx", () => {
  const read = parseHttpDate("Sunday, 06-Nov-94 08:49:37 GMT");
  assert.equal(read, Date.UTC(1994, 10, 6, 8, 49, 37));
});

test("malformed HTTP dates are refused", () => {
  const near = [
    "",
    "Tue, 16 Nov 2026 12:34:56 GMT",
    "Mon, 16 Nov 2026 12:34:56 gmt",
    "Mon, 16 Nov 2026 12:34:56 UTC",
    "Mon, 16 Nov 2026 12:34:56",
    "Mon, 16 Nov 2026 24:00:00 GMT",
    "Mon, 16 Nov 2026 12:60:00 GMT",
    "Mon, 16 Nov 2026 12:34:60 GMT",
    "Mon, 16 nov 2026 12:34:56 GMT",
    "Mon, 16 Nov 2026 12:34:5x GMT",
    "Mon, 16 Nov 2026  2:34:56 GMT",
    "Mon,  6 Nov 2026 12:34:56 GMT",
    "Mon, 31 Nov 2026 12:34:56 GMT",
    "Sun, 29 Feb 2026 12:34:56 GMT",
    "Mon, 16 Nov 2026 12:34:56 GMT ",
    "Mon 16 Nov 12:34:56 2026",
    "Moonday, 16-Nov-26 12:34:56 GMT",
    "2026-11-16T12:34:56Z",
    "1794832496",
  ];
  for (const text of near) assert.equal(parseHttpDate(text), null, text);
});

test("every form of a time in a SAS is parsed", () => {
  assert.equal(parseIsoTime("2026-11-16"), Date.UTC(2026, 10, 16));
  assert.equal(parseIsoTime("2026-11-16T12:34Z"), NOON - 56_000);
  assert.equal(parseIsoTime("2026-11-16T12:34:56Z"), NOON);
  assert.equal(parseIsoTime("2026-11-16T12:34:56.7Z"), NOON + 700);
  assert.equal(parseIsoTime("2026-11-16T12:34:56.1239999Z"), NOON + 123);
  assert.equal(parseIsoTime("9999-12-31T23:59:59.9999999Z"), 253_402_300_799_999);
  assert.equal(parseIsoTime("0001-01-01T00:00:00Z"), -62_135_596_800_000);
});

test("malformed ISO times are refused", () => {
  const near = [
    "",
    "2026",
    "2026-11",
    "2026-11-31",
    "2026-02-29",
    "2100-02-29",
    "2026-00-10",
    "2026-13-10",
    "0000-01-01",
    "2026-11-16Z",
    "2026-11-16T12Z",
    "2026-11-16T12:34",
    "2026-11-16 12:34Z",
    "2026-11-16T12:34:56",
    "2026-11-16T24:00Z",
    "2026-11-16T12:34:60Z",
    "2026-11-16T12:34:56.Z",
    "2026-11-16T12:34:56.12345678Z",
    "2026-11-16T12:34:56+00:00",
    "2026-11-16T12:34:5 Z",
    "+002026-11-16",
    "-2026-11-16",
    " 2026-11-16",
    "2026-11-16T12:34:56Z\n",
  ];
  for (const text of near) assert.equal(parseIsoTime(text), null, JSON.stringify(text));
});

test("every second of every four-digit year can be formatted and parsed", () => {
  const seconds = fc.integer({ min: -62_135_596_800, max: 253_402_300_799 });
  fc.assert(
    fc.property(seconds, (second) => {
      const instant = second * 1000;
      assert.equal(parseHttpDate(rfc1123(instant)), instant);
      assert.equal(parseIsoTime(isoTime(instant)), instant);
      const within = instant + (Math.abs(second) % 1000);
      assert.equal(parseIsoTime(new Date(within).toISOString()), within);
    }),
    { numRuns: 5_000 },
  );
});
