import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualClock } from "../../base/clock.ts";
import { entriesBetween, type RangeEntry, writeEntry } from "../../content/range-records.ts";
import { clearLayer } from "../../content/range-writes.ts";
import { appendInPlace } from "../../store/accelerated.ts";
import type { Transaction } from "../../store/store.ts";
import { MemoryStore } from "./store.ts";

const LAYER = 7n;
const NO_LEAVES = { share: assert.fail, drop: assert.fail };

/** Clears a range of two entries, which begin at 0 and 4096, and returns what is left of them. */
async function clear(from: number, until: number) {
  const store = new MemoryStore(new ManualClock(1_700_000_000_000));
  return store.transact((tx) => {
    for (const start of [0, 4_096]) writeEntry(tx, LAYER, zeroes(start, 4_096));
    const { tx: counted, searches } = countingSearches(tx);
    const cleared = clearLayer(counted, NO_LEAVES, LAYER, from, until);
    const left = entriesBetween(tx, LAYER, 0, 10_000, 10).map(({ start, length }) => [
      start,
      length,
    ]);
    return { ...cleared, left, searches: searches() };
  });
}

function zeroes(start: number, length: number): RangeEntry {
  return { start, length, source: { kind: "zero" } };
}

function countingSearches(tx: Transaction): { tx: Transaction; searches: () => number } {
  let count = 0;
  const counted: Transaction = {
    get: (key) => tx.get(key),
    range: (from, until, options) => {
      count++;
      return tx.range(from, until, options);
    },
    now: () => tx.now(),
    onDiscard: (release) => tx.onDiscard(release),
    set: (key, value) => tx.set(key, value),
    delete: (key) => tx.delete(key),
    append: (key, size, more) => appendInPlace(tx, key, size, more),
    stamp: () => tx.stamp(),
  };
  return { tx: counted, searches: () => count };
}

test("clearing a whole entry, or its first part, takes no search", async () => {
  const found = { done: true, isCrowded: false, searches: 0 };
  assert.deepEqual(await clear(4_096, 8_192), { ...found, left: [[0, 4_096]] });
  const left = [
    [0, 4_096],
    [4_608, 3_584],
  ];
  assert.deepEqual(await clear(4_096, 4_608), { ...found, left });
});

test("clearing also reaches into the next entry", async () => {
  const { left, searches } = await clear(0, 4_608);
  assert.deepEqual(left, [[4_608, 3_584]]);
  assert.ok(searches > 0);
});
