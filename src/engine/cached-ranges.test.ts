import assert from "node:assert/strict";
import { test } from "node:test";
import { SPACE } from "../base/keys.ts";
import { CACHED_ENTRIES_MIN } from "../store/accelerated.ts";
import type { Derivation, Derived, DerivedRange } from "../store/acceleration.ts";
import { CachedRanges } from "./cached-ranges.ts";

const entities: Derivation<Derived> = { space: SPACE.entity, make: () => ({ bytes: 0 }) };
const k = (at: number) => Buffer.from([SPACE.entity, at]);
const MANY = 100;

function derivedRange(from: number, until: number, bytes = 0): DerivedRange<{ bytes: number }> {
  return { from: k(from), until: k(until), derived: { bytes }, wasCached: false };
}

function areCached(cached: CachedRanges, keys: readonly number[]): boolean[] {
  return keys.map((at) => cached.find(entities, k(at)) !== null);
}

test("a cached range is found by every key in it, and by no other", () => {
  const cached = new CachedRanges();
  cached.add(entities, derivedRange(10, 20), MANY, 0);
  cached.add(entities, derivedRange(30, 40), MANY, 0);
  assert.deepEqual(areCached(cached, [9, 10, 19, 20, 29, 30, 39, 40]), [
    false,
    true,
    true,
    false,
    false,
    true,
    true,
    false,
  ]);
  assert.equal(cached.find({ ...entities }, k(10)), null);
  assert.deepEqual(cached.untilNext(entities, k(20), k(50)), k(30));
  assert.deepEqual(cached.untilNext(entities, k(20), k(25)), k(25));
  assert.deepEqual(cached.untilNext(entities, k(40), k(50)), k(50));
});

test("a change drops the cached range in which it lies", () => {
  const cached = new CachedRanges();
  for (const from of [10, 20, 30]) cached.add(entities, derivedRange(from, from + 10), MANY, 0);
  cached.change(k(20));
  cached.change(Buffer.from([SPACE.blob, 15]));
  assert.deepEqual(areCached(cached, [19, 20, 29, 30]), [true, false, false, true]);
});

test("a range of few entries is not cached", () => {
  const cached = new CachedRanges();
  cached.add(entities, derivedRange(10, 20), CACHED_ENTRIES_MIN - 1, 0);
  cached.add(entities, derivedRange(30, 40), CACHED_ENTRIES_MIN, 0);
  assert.deepEqual(areCached(cached, [10, 30]), [false, true]);
});

test("the least recently used ranges are evicted, also when a cached one grows", () => {
  const cached = new CachedRanges(25_000);
  const growing = derivedRange(30, 40, 5_000);
  cached.add(entities, derivedRange(10, 20, 5_000), MANY, 0);
  cached.add(entities, derivedRange(20, 30, 5_000), MANY, 0);
  cached.add(entities, growing, MANY, 0);
  cached.find(entities, k(10));
  cached.add(entities, derivedRange(40, 50, 5_000), MANY, 0);
  assert.deepEqual(areCached(cached, [40, 30, 20, 10]), [true, true, true, true]);
  cached.add(entities, derivedRange(50, 60, 5_000), MANY, 0);
  assert.deepEqual(areCached(cached, [40, 30, 20, 10, 50]), [false, true, true, true, true]);
  growing.derived.bytes = 15_000;
  assert.deepEqual(areCached(cached, [30, 20, 10, 50]), [true, false, false, true]);
  growing.derived.bytes = 30_000;
  assert.deepEqual(areCached(cached, [30, 30]), [true, false]);
});
