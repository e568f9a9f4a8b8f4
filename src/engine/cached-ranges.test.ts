import assert from "node:assert/strict";
import { test } from "node:test";
import { SPACE } from "../base/keys.ts";
import { KEPT_ENTRIES_MIN, type Made, type Making, type Stretch } from "../store/store.ts";
import { KeptStretches } from "./cached-ranges.ts";

const entities: Making<Made> = { space: SPACE.entity, make: () => ({ bytes: 0 }) };
const k = (at: number) => Buffer.from([SPACE.entity, at]);
const MANY = 100;

function stretch(from: number, until: number, bytes = 0): Stretch<{ bytes: number }> {
  return { from: k(from), until: k(until), made: { bytes }, wasKept: false };
}

function keptOf(kept: KeptStretches, keys: readonly number[]): boolean[] {
  return keys.map((at) => kept.find(entities, k(at)) !== null);
}

test("a stretch is found by every key in it, and by no other", () => {
  const kept = new KeptStretches();
  kept.keep(entities, stretch(10, 20), MANY, 0);
  kept.keep(entities, stretch(30, 40), MANY, 0);
  assert.deepEqual(keptOf(kept, [9, 10, 19, 20, 29, 30, 39, 40]), [
    false,
    true,
    true,
    false,
    false,
    true,
    true,
    false,
  ]);
  assert.equal(kept.find({ ...entities }, k(10)), null);
  assert.deepEqual(kept.untilNext(entities, k(20), k(50)), k(30));
  assert.deepEqual(kept.untilNext(entities, k(20), k(25)), k(25));
  assert.deepEqual(kept.untilNext(entities, k(40), k(50)), k(50));
});

test("a change drops the stretch in which it lies", () => {
  const kept = new KeptStretches();
  for (const from of [10, 20, 30]) kept.keep(entities, stretch(from, from + 10), MANY, 0);
  kept.change(k(20));
  kept.change(Buffer.from([SPACE.blob, 15]));
  assert.deepEqual(keptOf(kept, [19, 20, 29, 30]), [true, false, false, true]);
});

test("few entries are not kept", () => {
  const kept = new KeptStretches();
  kept.keep(entities, stretch(10, 20), KEPT_ENTRIES_MIN - 1, 0);
  kept.keep(entities, stretch(30, 40), KEPT_ENTRIES_MIN, 0);
  assert.deepEqual(keptOf(kept, [10, 30]), [false, true]);
});

test("what has not been used for the longest time makes room, also for what grows", () => {
  const kept = new KeptStretches(25_000);
  const growing = stretch(30, 40, 5_000);
  kept.keep(entities, stretch(10, 20, 5_000), MANY, 0);
  kept.keep(entities, stretch(20, 30, 5_000), MANY, 0);
  kept.keep(entities, growing, MANY, 0);
  kept.find(entities, k(10));
  kept.keep(entities, stretch(40, 50, 5_000), MANY, 0);
  assert.deepEqual(keptOf(kept, [40, 30, 20, 10]), [true, true, true, true]);
  kept.keep(entities, stretch(50, 60, 5_000), MANY, 0);
  assert.deepEqual(keptOf(kept, [40, 30, 20, 10, 50]), [false, true, true, true, true]);
  growing.made.bytes = 15_000;
  assert.deepEqual(keptOf(kept, [30, 20, 10, 50]), [true, false, false, true]);
  growing.made.bytes = 30_000;
  assert.deepEqual(keptOf(kept, [30, 30]), [true, false]);
});
