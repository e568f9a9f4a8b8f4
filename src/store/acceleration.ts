import type { Bytes } from "../base/bytes.ts";
import { keyBehind, type Space } from "../base/keys.ts";
import { MIB } from "../base/limits.ts";
import type { Entry, Transaction, View } from "./store.ts";

/**
 * Optional methods of an engine, beyond the contract of `store.ts`, that make it faster. An engine
 * may leave out any of them: callers use the functions below, which fall back to the core contract.
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
   * Registers `prepare`, which an engine with a write-ahead log calls before each checkpoint. It
   * may replace large values by small ones, so that the checkpoint copies less.
   */
  beforeCheckpoint(prepare: () => Promise<void>): void;
}

/**
 * Derives a value from neighbouring entries that answers queries faster than the entries do. `make`
 * must be pure: an engine may cache its result until one of the entries changes, or one is added.
 */
export interface Derivation<T extends Derived> {
  /** The space in which all entries lie. */
  readonly space: Space;
  make(entries: readonly Entry[]): T;
}

export interface Derived {
  /** Approximate memory use. It may grow after `make`. */
  readonly bytes: number;
}

/** A range of keys, and the value derived from all entries with `from <= key < until`. */
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
 * Appends bytes to a value of `size` bytes. The write-ahead log gets only these bytes, however long
 * the value is. Returns false, and does nothing, if the value is missing, has another size, or is
 * no longer in the write-ahead log.
 */
export function appendInPlace(tx: Transaction, key: Bytes, size: number, more: Bytes): boolean {
  return tx.append?.(key, size, more) ?? false;
}
