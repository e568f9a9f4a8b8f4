import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { etagOf, instantOf, isoOfStamp, stampAfter, stampOf, stampOfIso } from "./stamp.ts";

const instants = fc.integer({ min: 0, max: Date.UTC(9999, 11, 31) });

test("a stamp counts ticks of 100 ns since 1970", () => {
  assert.equal(stampOf(0), 0n);
  assert.equal(stampOf(1), 10_000n);
  assert.equal(stampOf(1.9), 10_000n);
  assert.equal(instantOf(19_999n), 1);
  fc.assert(fc.property(instants, (instant) => assert.equal(instantOf(stampOf(instant)), instant)));
});

test("the next stamp is the clock's, or one more than the last", () => {
  assert.equal(stampAfter(0n, 5), 50_000n);
  assert.equal(stampAfter(50_000n, 5), 50_001n);
  assert.equal(stampAfter(99_999n, 5), 100_000n);
  fc.assert(
    fc.property(fc.bigInt(0n, 2n ** 63n), instants, (last, now) => {
      assert.ok(stampAfter(last, now) > last && stampAfter(last, now) >= stampOf(now));
    }),
  );
});

test("an ETag counts from the year 1, in upper-case hexadecimal", () => {
  assert.equal(etagOf(0n), "0x89F7FF5F7B58000");
  assert.match(etagOf(stampOf(Date.UTC(2024, 0, 1))), /^0x8DC[0-9A-F]{12}$/);
  fc.assert(
    fc.property(instants, (at) => assert.notEqual(etagOf(stampOf(at)), etagOf(stampOf(at) + 1n))),
  );
});

test("a stamp is formatted with seven digits of a second, and parsed back", () => {
  const stamp = stampOf(Date.UTC(2021, 0, 1)) + 1_234_567n;
  assert.equal(isoOfStamp(stamp), "2021-01-01T00:00:00.1234567Z");
  fc.assert(
    fc.property(instants, fc.bigInt(0n, 9_999n), (instant, more) => {
      const any = stampOf(instant) + more;
      assert.equal(stampOfIso(isoOfStamp(any)), any);
    }),
  );
});

test("text in any other format is no stamp", () => {
  const wrong = [
    "",
    "2021-01-01T00:00:00Z",
    "2021-01-01T00:00:00.123Z",
    "2021-01-01T00:00:00.12345678Z",
    "2021-01-01T00:00:00.1234567",
    "2021-01-01 00:00:00.1234567Z",
    "2021-13-01T00:00:00.1234567Z",
    "2021-02-30T00:00:00.1234567Z",
    "2021-01-01T24:00:00.0000000Z",
    "2021-01-01T00:00:00.1234567Z\n",
  ];
  for (const iso of wrong) assert.equal(stampOfIso(iso), null, iso);
});
