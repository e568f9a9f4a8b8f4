import type { Bytes } from "../base/bytes.ts";
import type { Space } from "../base/keys.ts";
import type { Entry, RangeOptions } from "./entry.ts";

/**
 * Optional methods of an engine, beyond the contract of `store.ts`, that make it faster. An engine
 * may leave out any of them: callers use the functions of `accelerated.ts`, which fall back to the
 * core contract.
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
  /** See `prefetch`. */
  prefetch(needs: () => Iterable<Need>, next?: () => Iterable<Need>): void;
}

/** A key, or a range as it will be asked for, that a body will read. */
export type Need = Bytes | NeededRange;

export interface NeededRange {
  readonly from: Bytes;
  readonly until: Bytes;
  readonly options: RangeOptions;
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
