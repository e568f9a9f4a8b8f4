import { prefetch } from "../store/accelerated.ts";
import type { Content } from "../store/content.ts";
import type { Contents } from "../store/contents.ts";
import type { Transaction } from "../store/store.ts";
import { keysToDrop } from "./content-records.ts";
import {
  cut,
  deleteEntry,
  endOf,
  entriesBetween,
  entryAt,
  lastEntryBefore,
  type RangeEntry,
  type RangeSource,
  REGION_BYTES,
  writeEntry,
} from "./range-records.ts";

/** Entries that one write replaces in place. If there are more, the write adds a layer on top. */
const REPLACED_ENTRIES_MAX = 1_024;

/** The reference counting of leaves that entries need. */
export type Leaves = Pick<Contents, "share" | "drop">;

interface Cleared {
  /** False if there were too many entries; then none was changed. */
  readonly done: boolean;
  /** Whether the region has other entries before the cleared range. */
  readonly isCrowded: boolean;
}

/** Clears a layer between two offsets. Entries that cross a bound are cut there. */
export function clearLayer(
  tx: Transaction,
  leaves: Leaves,
  layer: bigint,
  from: number,
  until: number,
): Cleared {
  const same = entryAt(tx, layer, from);
  // The same pages are often written again: then a get finds the only entry, without a search.
  if (same !== null && endOf(same) >= until) {
    replace(tx, leaves, layer, same, from, until);
    return { done: true, isCrowded: false };
  }
  const last = lastEntryBefore(tx, layer, until);
  if (last === null) return { done: true, isCrowded: false };
  if (last.start > from) return clearMany(tx, leaves, layer, from, until);
  // Entries do not overlap, so this is the only one that may reach into the range.
  if (endOf(last) > from) replace(tx, leaves, layer, last, from, until);
  const isCrowded = last.start < from && last.start >= from - (from % REGION_BYTES);
  return { done: true, isCrowded };
}

function clearMany(
  tx: Transaction,
  leaves: Leaves,
  layer: bigint,
  from: number,
  until: number,
): Cleared {
  const inside = entriesBetween(tx, layer, from, until, REPLACED_ENTRIES_MAX + 1);
  if (inside.length > REPLACED_ENTRIES_MAX) return { done: false, isCrowded: false };
  const before = lastEntryBefore(tx, layer, from);
  prefetch(tx, () => keysToDrop(leavesIn(inside)));
  if (before !== null && endOf(before) > from) replace(tx, leaves, layer, before, from, until);
  for (const entry of inside) replace(tx, leaves, layer, entry, from, until);
  return { done: true, isCrowded: true };
}

/** The leaves that these entries refer to. */
export function leavesIn(entries: readonly RangeEntry[]): Content[] {
  return entries.flatMap(({ source }) => (source.kind === "leaf" ? [source.content] : []));
}

/** Replaces an entry by its parts outside the bounds. */
function replace(
  tx: Transaction,
  leaves: Leaves,
  layer: bigint,
  entry: RangeEntry,
  from: number,
  until: number,
): void {
  const outside: RangeEntry[] = [];
  if (entry.start < from) outside.push(cut(entry, entry.start, from));
  if (endOf(entry) > until) outside.push(cut(entry, until, endOf(entry)));
  deleteEntry(tx, layer, entry.start);
  for (const part of outside) writeEntry(tx, layer, part);
  recount(tx, leaves, entry.source, outside.length);
}

/** Adjusts a leaf's reference count after `entries` entries have replaced one that refers to it. */
export function recount(
  tx: Transaction,
  leaves: Leaves,
  source: RangeSource,
  entries: number,
): void {
  if (source.kind !== "leaf") return;
  if (entries === 0) leaves.drop(tx, source.content);
  for (let more = 1; more < entries; more++) leaves.share(tx, source.content);
}
