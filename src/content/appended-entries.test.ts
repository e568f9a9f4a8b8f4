import assert from "node:assert/strict";
import { test } from "node:test";
import { AppendedEntries } from "./appended-entries.ts";
import { CROWD_ENTRIES_MIN, REGION_BYTES } from "./range-records.ts";

const LAYER = 1n;
const ENTRY_BYTES = 100;

/** Notes entries that stand one behind the other, and returns the starts at which it was time to look. */
function crowdedAt(appended: AppendedEntries, from: number, entries: number): number[] {
  const found: number[] = [];
  for (let at = 0; at < entries; at++) {
    const start = from + at * ENTRY_BYTES;
    appended.note(LAYER, start);
    if (appended.mayBeCrowded(LAYER, start)) found.push(start);
  }
  return found;
}

test("a region is looked at once for each crowd of entries, not for each entry", () => {
  const appended = new AppendedEntries();
  const last = (CROWD_ENTRIES_MIN - 1) * ENTRY_BYTES;
  const behind = (2 * CROWD_ENTRIES_MIN - 1) * ENTRY_BYTES;
  assert.deepEqual(crowdedAt(appended, 0, 2 * CROWD_ENTRIES_MIN), [last, behind]);
});

test("the count begins anew in each region", () => {
  const appended = new AppendedEntries();
  crowdedAt(appended, 0, CROWD_ENTRIES_MIN / 2);
  const first = REGION_BYTES + ENTRY_BYTES;
  const last = first + (CROWD_ENTRIES_MIN - 1) * ENTRY_BYTES;
  assert.deepEqual(crowdedAt(appended, first, CROWD_ENTRIES_MIN), [last]);
});

test("an entry that is noted again, by a body that runs again, counts once", () => {
  const appended = new AppendedEntries();
  for (let at = 0; at < CROWD_ENTRIES_MIN; at++) {
    appended.note(LAYER, at * ENTRY_BYTES);
    appended.note(LAYER, at * ENTRY_BYTES);
    const isLast = at === CROWD_ENTRIES_MIN - 1;
    assert.equal(appended.mayBeCrowded(LAYER, at * ENTRY_BYTES), isLast, `entry ${at}`);
  }
});

test("if the number of entries is unknown, each entry behind the first may make a region crowded", () => {
  const appended = new AppendedEntries();
  assert.equal(appended.mayBeCrowded(LAYER, 0), false);
  assert.deepEqual(crowdedAt(appended, ENTRY_BYTES, 3), [100, 200, 300]);
});
