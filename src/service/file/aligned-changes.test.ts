import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { SECTOR_BYTES } from "../../base/limits.ts";
import type { Range, Ranges } from "../../store/range-map.ts";
import { alignedChanges, CHANGES_MIN, sectorAt } from "./aligned-changes.ts";

const SAME = 0;
const WRITTEN = 1;
const CLEARED = 2;

/** What happened to each byte of a file. */
const marks = fc
  .array(fc.tuple(fc.integer({ min: 1, max: 700 }), fc.constantFrom(SAME, WRITTEN, CLEARED)), {
    maxLength: 30,
  })
  .map((runs) => runs.flatMap(([length, mark]) => Array<number>(length).fill(mark)));

/** A page of changes as a map lists them: byte by byte, up to `limit`. */
function changesIn(bytes: readonly number[], from: number, limit: number): Ranges {
  const found: Range[] = [];
  for (let start = from, end = from; start < bytes.length; start = end) {
    while (end < bytes.length && bytes[end] === bytes[start]) end++;
    if (bytes[start] === SAME) continue;
    if (found.length === limit) return { found, next: start };
    found.push({ start, end, isCleared: bytes[start] === CLEARED });
  }
  return { found, next: null };
}

/** The expected changes, computed one sector at a time. */
function sectorsIn(bytes: readonly number[]): Range[] {
  const found: Range[] = [];
  for (let start = 0; start < bytes.length; start += SECTOR_BYTES) {
    const sector = bytes.slice(start, start + SECTOR_BYTES);
    if (sector.every((mark) => mark === SAME)) continue;
    const end = start + sector.length;
    found.push({ start, end, isCleared: sector.every((mark) => mark === CLEARED) });
  }
  return found;
}

/** Splits ranges into one for each sector. */
function parted(ranges: readonly Range[]): Range[] {
  return ranges.flatMap(({ start, end, isCleared }) => {
    assert.equal(start, sectorAt(start));
    const count = Math.ceil((end - start) / SECTOR_BYTES);
    return Array.from({ length: count }, (_, at) => {
      const from = start + at * SECTOR_BYTES;
      return { start: from, end: Math.min(from + SECTOR_BYTES, end), isCleared };
    });
  });
}

test("changes are the sectors in which something changed, whatever the page size", () => {
  fc.assert(
    fc.property(marks, fc.integer({ min: 1, max: 5 }), (bytes, limit) => {
      const all: Range[] = [];
      for (let from: number | null = 0; from !== null; ) {
        const changes = changesIn(bytes, from, Math.max(limit, CHANGES_MIN));
        const { found, next }: Ranges = alignedChanges(changes, bytes.length, limit);
        assert.ok(found.length <= limit);
        assert.ok(next === null || next > from);
        all.push(...found);
        from = next;
      }
      assert.deepEqual(parted(all), sectorsIn(bytes));
    }),
  );
});

test("a page with as many changes as a sector can hold reaches beyond that sector", () => {
  const bytes = Array.from({ length: 2 * SECTOR_BYTES }, (_, at) => (at % 2 ? WRITTEN : CLEARED));
  const changes = changesIn(bytes, 0, CHANGES_MIN);
  const sector = { start: 0, end: SECTOR_BYTES, isCleared: false };
  assert.deepEqual(alignedChanges(changes, bytes.length, 1), {
    found: [sector],
    next: SECTOR_BYTES,
  });
});
