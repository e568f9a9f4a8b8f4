import { SECTOR_BYTES } from "../../base/limits.ts";
import type { Range, Ranges } from "../../store/range-map.ts";

/**
 * Rounds a page of changes to whole sectors, as the service lists them: a sector is cleared only if
 * all of it was, and written if any other byte of it has changed. The last sector ends with the
 * file. `changes` must begin at a sector, and a page that continues must hold at least
 * `CHANGES_MIN`: fewer might all lie in one sector, and the list would not advance.
 */
export function alignedChanges(changes: Ranges, size: number, limit: number): Ranges {
  // The next page lists a sector that this one covers only in part.
  const until = changes.next === null ? size : sectorAt(changes.next);
  const found: Range[] = [];
  for (const { start, end, isCleared } of changes.found) {
    if (!isCleared) {
      add(found, sectorAt(start), sectorsUntil(end, size), false, until);
      continue;
    }
    const first = sectorsUntil(start, size);
    const last = end === size ? end : sectorAt(end);
    if (start < first) add(found, sectorAt(start), first, false, until);
    if (first < last) add(found, first, last, true, until);
    if (last < end) add(found, last, sectorsUntil(end, size), false, until);
  }
  const rest = found[limit];
  if (rest !== undefined) return { found: found.slice(0, limit), next: rest.start };
  return { found, next: changes.next === null ? null : until };
}

/** One more than a sector can hold. */
export const CHANGES_MIN = SECTOR_BYTES + 1;

/** Start of the sector that contains this byte. */
export function sectorAt(offset: number): number {
  return offset - (offset % SECTOR_BYTES);
}

/** End of the sector that contains this byte or ends with it. */
export function sectorsUntil(end: number, size: number): number {
  return Math.min(Math.ceil(end / SECTOR_BYTES) * SECTOR_BYTES, size);
}

/**
 * Appends a range or extends the last one. Ranges overlap in a sector that changed only in parts:
 * it counts as written and belongs to the first of them.
 */
function add(found: Range[], from: number, to: number, isCleared: boolean, until: number): void {
  const last = found.at(-1);
  const start = Math.max(from, last?.end ?? 0);
  const end = Math.min(to, until);
  if (start >= end) return;
  if (last !== undefined && last.end === start && last.isCleared === isCleared) {
    found[found.length - 1] = { ...last, end };
  } else {
    found.push({ start, end, isCleared });
  }
}
