import assert from "node:assert/strict";
import { test } from "node:test";
import { GrowingTails } from "./growing-tails.ts";
import { CROWD_ENTRIES_MIN, REGION_BYTES } from "./range-records.ts";

const LAYER = 1n;
const ENTRY_BYTES = 100;

/** Notes entries that stand one behind the other, and returns the starts at which it was time to look. */
function crowdedAt(tails: GrowingTails, from: number, entries: number): number[] {
  const found: number[] = [];
  for (let at = 0; at < entries; at++) {
    const start = from + at * ENTRY_BYTES;
    tails.note(LAYER, start);
    if (tails.mayBeCrowded(LAYER, start)) found.push(start);
  }
  return found;
}

test("a region is looked at once for each crowd of entries, not for each entry", () => {
  const tails = new GrowingTails();
  const last = (CROWD_ENTRIES_MIN - 1) * ENTRY_BYTES;
  const behind = (2 * CROWD_ENTRIES_MIN - 1) * ENTRY_BYTES;
  assert.deepEqual(crowdedAt(tails, 0, 2 * CROWD_ENTRIES_MIN), [last, behind]);
});

test("the count begins anew in each region", () => {
  const tails = new GrowingTails();
  crowdedAt(tails, 0, CROWD_ENTRIES_MIN / 2);
  const first = REGION_BYTES + ENTRY_BYTES;
  const last = first + (CROWD_ENTRIES_MIN - 1) * ENTRY_BYTES;
  assert.deepEqual(crowdedAt(tails, first, CROWD_ENTRIES_MIN), [last]);
});

test("an entry that is noted again, by a body that runs again, counts once", () => {
  const tails = new GrowingTails();
  for (let at = 0; at < CROWD_ENTRIES_MIN; at++) {
    tails.note(LAYER, at * ENTRY_BYTES);
    tails.note(LAYER, at * ENTRY_BYTES);
    const isLast = at === CROWD_ENTRIES_MIN - 1;
    assert.equal(tails.mayBeCrowded(LAYER, at * ENTRY_BYTES), isLast, `entry ${at}`);
  }
});

test("where nobody knows how many there are, each entry behind the first is reason to look", () => {
  const tails = new GrowingTails();
  assert.equal(tails.mayBeCrowded(LAYER, 0), false);
  assert.deepEqual(crowdedAt(tails, ENTRY_BYTES, 3), [100, 200, 300]);
});
