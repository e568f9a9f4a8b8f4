import assert from "node:assert/strict";
import { test } from "node:test";
import type { Bytes } from "../../base/bytes.ts";
import { key, SPACE } from "../../base/keys.ts";
import { SortedEntries } from "./sorted-entries.ts";

const COUNT = 5_000;

function at(number: number): Bytes {
  return key(SPACE.blob, number);
}

/** Every number below COUNT once, in a lively but fixed order. */
const shuffled = Array.from({ length: COUNT }, (_, number) => (number * 2_731) % COUNT);

function filled(): SortedEntries {
  const entries = new SortedEntries();
  for (const number of shuffled) entries.set({ key: at(number), value: Buffer.from(`${number}`) });
  return entries;
}

function numbers(entries: SortedEntries, from: number, until: number, reverse: boolean): number[] {
  return [...entries.scan(at(from), at(until), reverse)].map(({ value }) => Number(value));
}

function assertHolds(entries: SortedEntries, expected: readonly number[]): void {
  for (let from = 0; from <= COUNT; from += 613) {
    for (let until = 0; until <= COUNT; until += 487) {
      const inside = expected.filter((number) => number >= from && number < until);
      assert.deepEqual(numbers(entries, from, until, false), inside);
      assert.deepEqual(numbers(entries, from, until, true), inside.toReversed());
    }
  }
  const held = new Set(expected);
  for (let number = 0; number < COUNT; number++) {
    const value = entries.get(at(number));
    assert.deepEqual(value, held.has(number) ? Buffer.from(`${number}`) : undefined);
  }
}

test("entries come in order, from wherever to wherever, however many there are", () => {
  assertHolds(
    filled(),
    shuffled.toSorted((a, b) => a - b),
  );
});

test("deleted entries are gone, whole stretches of them too, and can come back", () => {
  const entries = filled();
  const kept = (number: number) => number % 3 === 0 && (number < 1_000 || number >= 3_000);
  for (const number of shuffled) if (!kept(number)) entries.delete(at(number));
  entries.delete(at(COUNT + 1));
  const left = shuffled.filter(kept).sort((a, b) => a - b);
  assertHolds(entries, left);
  for (const number of left) entries.delete(at(number));
  assertHolds(entries, []);
  entries.set({ key: at(7), value: Buffer.from("7") });
  assertHolds(entries, [7]);
});

test("an entry that is set again is replaced", () => {
  const entries = filled();
  for (const number of shuffled) entries.set({ key: at(number), value: Buffer.from("1") });
  assert.deepEqual(new Set(numbers(entries, 0, COUNT, false)), new Set([1]));
  assert.equal(numbers(entries, 0, COUNT, false).length, COUNT);
});
