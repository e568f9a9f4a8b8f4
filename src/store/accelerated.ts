import type { Bytes } from "../base/bytes.ts";
import { keyBehind } from "../base/keys.ts";
import { MIB } from "../base/limits.ts";
import type { Derivation, Derived, DerivedRange, Need } from "./acceleration.ts";
import type { Entry } from "./entry.ts";
import type { Transaction, View } from "./store.ts";

/** Below this many entries, reading them again is cheaper than a cache full of small ranges. */
export const CACHED_ENTRIES_MIN = 16;

/** A derived range ends with the entry that brings keys and values to this size. */
export const DERIVED_BYTES_MAX = 4 * MIB;

/**
 * Derives a value from the entries that begin at `from`, or finds it in the engine's cache. A range
 * that is not cached yet ends at `until`, after `limit` entries, or at `DERIVED_BYTES_MAX`. Damaged
 * records are skipped, and the engine reports them.
 */
export function derivedRange<T extends Derived>(
  view: View,
  derivation: Derivation<T>,
  from: Bytes,
  until: Bytes,
  limit: number,
): DerivedRange<T> {
  return (
    view.derivedRange?.(derivation, from, until, limit) ??
    deriveRange(view, derivation, from, until, limit).range
  );
}

/** Derives a range without a cache, and counts its entries. */
export function deriveRange<T extends Derived>(
  view: Pick<View, "range">,
  derivation: Derivation<T>,
  from: Bytes,
  until: Bytes,
  limit: number,
): { readonly range: DerivedRange<T>; readonly entries: number } {
  const options = { limit, bytesMax: DERIVED_BYTES_MAX, skipsDamaged: true };
  const entries = view.range(from, until, options);
  const derived = derivation.make(entries);
  const reached = endOf(entries, until, limit);
  const range = { from, until: reached, derived, wasCached: false };
  return { range, entries: entries.length };
}

function endOf(entries: readonly Entry[], until: Bytes, limit: number): Bytes {
  const last = entries.at(-1);
  if (last === undefined) return until;
  let bytes = 0;
  for (const { key, value } of entries) bytes += key.length + value.length;
  const isCut = entries.length >= limit || bytes >= DERIVED_BYTES_MAX;
  return isCut ? keyBehind(last.key) : until;
}

/**
 * Names what the body will read, so that an engine that lacks records fetches all of them in one
 * round. `needs` is called only by such an engine, and may itself read. What a body names and then
 * does not read costs such an engine a little; what it reads without naming it costs a round.
 * `next` names what bodies after this one will probably read. It is called only if something of
 * `needs` must be fetched, and what it names comes along.
 */
export function prefetch(
  view: View,
  needs: () => Iterable<Need>,
  next?: () => Iterable<Need>,
): void {
  view.prefetch?.(needs, next);
}

/**
 * Whether the engine may lack records, so that each lookup may take a round. Walks then read more
 * at once, and end a page that would take many lookups.
 */
export function fetchesRecords(view: View): boolean {
  return view.prefetch !== undefined;
}

/**
 * Appends bytes to a value of `size` bytes. The write-ahead log gets only these bytes, however long
 * the value is. Returns false, and does nothing, if the value is missing, has another size, or is
 * no longer in the write-ahead log.
 */
export function appendInPlace(tx: Transaction, key: Bytes, size: number, more: Bytes): boolean {
  return tx.append?.(key, size, more) ?? false;
}
