import type { Contents } from "../store/contents.ts";
import type { Transaction } from "../store/store.ts";
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

/** Entries that one write replaces in place. Where there are more, it goes on top of them. */
const REPLACED_ENTRIES_MAX = 1_024;

/** How entries refer to leaves. */
export type Leaves = Pick<Contents, "share" | "drop">;

interface Cleared {
  /** False if there was too much to do: then nothing has been done. */
  readonly done: boolean;
  /** Whether other entries stand close before. */
  readonly isCrowded: boolean;
}

/** Takes everything between two offsets out of a layer; what lies across a bound is cut there. */
export function clearLayer(
  tx: Transaction,
  leaves: Leaves,
  layer: bigint,
  from: number,
  until: number,
): Cleared {
  const same = entryAt(tx, layer, from);
  // Entries do not overlap. Who writes the same pages again is spared a search, which takes longer.
  if (same !== null && endOf(same) >= until) {
    replace(tx, leaves, layer, same, from, until);
    return { done: true, isCrowded: false };
  }
  const last = lastEntryBefore(tx, layer, until);
  if (last === null) return { done: true, isCrowded: false };
  if (last.start > from) return clearMany(tx, leaves, layer, from, until);
  // Whatever comes before it ends where it starts: it is the only one that may be in the way.
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
  if (before !== null && endOf(before) > from) replace(tx, leaves, layer, before, from, until);
  for (const entry of inside) replace(tx, leaves, layer, entry, from, until);
  return { done: true, isCrowded: true };
}

/** Keeps of an entry what lies outside the bounds. */
function replace(
  tx: Transaction,
  leaves: Leaves,
  layer: bigint,
  entry: RangeEntry,
  from: number,
  until: number,
): void {
  const kept: RangeEntry[] = [];
  if (entry.start < from) kept.push(cut(entry, entry.start, from));
  if (endOf(entry) > until) kept.push(cut(entry, until, endOf(entry)));
  deleteEntry(tx, layer, entry.start);
  for (const part of kept) writeEntry(tx, layer, part);
  recount(tx, leaves, entry.source, kept.length);
}

/** An entry has become so many. */
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
