import type { Bytes } from "../base/bytes.ts";
import { keyBehind, type Space } from "../base/keys.ts";
import { MIB } from "../base/limits.ts";
import type { Entry, Transaction, View } from "./store.ts";

/**
 * What an engine may offer to be faster, beyond the contract of `store.ts`. An engine may leave out
 * any of it: callers use the functions below, which do the same thing more slowly without it.
 */
export interface ViewAcceleration {
  /**
   * The derived range in which `from` lies, from a cache where possible. It may begin before `from`
   * and end behind `until`. See `derivedRange`.
   */
  derivedRange<T extends Derived>(
    derivation: Derivation<T>,
    from: Bytes,
    until: Bytes,
    limit: number,
  ): DerivedRange<T>;
}

export interface TransactionAcceleration {
  /** See `appendInPlace`. */
  append(key: Bytes, size: number, more: Bytes): boolean;
}

export interface StoreAcceleration {
  /**
   * Engines with a write-ahead log call `prepare` before a checkpoint. Whoever replaces a large value
   * by a small one then spares the engine the copy of the large one.
   */
  beforeCheckpoint(prepare: () => Promise<void>): void;
}

/**
 * Turns neighbouring entries into something that answers questions faster than they do. An engine may
 * cache what `make` returns until one of the entries changes or a new one comes between them, so
 * `make` must depend on nothing but the entries.
 */
export interface Derivation<T extends Derived> {
  /** The space of all its entries. */
  readonly space: Space;
  make(entries: readonly Entry[]): T;
}

export interface Derived {
  /** Memory that it takes, roughly. It may grow while it is used. */
  readonly bytes: number;
}

/** All entries of the state with `from <= key < until`, and what was derived from them. */
export interface DerivedRange<T extends Derived> {
  readonly from: Bytes;
  readonly until: Bytes;
  readonly derived: T;
  readonly wasCached: boolean;
}

/** Below this many entries, reading them again is cheaper than a cache full of small ranges. */
export const CACHED_ENTRIES_MIN = 16;

/** A derived range ends with the entry that brings keys and values to this size. */
export const DERIVED_BYTES_MAX = 4 * MIB;

/**
 * What `derivation` makes of entries from `from` on. A range that is not cached yet ends before
 * `until`, after `limit` entries, or at `DERIVED_BYTES_MAX`. Damaged records are left out, and the
 * engine reports them.
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
  const options = { limit, bytesMax: DERIVED_BYTES_MAX, sparesDamaged: true };
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
 * Appends bytes to a value of `size` bytes at the cost of those bytes alone, however long the value
 * is. Only recent values can be appended to: false, and nothing is done, if the value is not there, has
 * another size, or is no longer in the write-ahead log.
 */
export function appendInPlace(tx: Transaction, key: Bytes, size: number, more: Bytes): boolean {
  return tx.append?.(key, size, more) ?? false;
}
