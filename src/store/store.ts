import type { Bytes } from "../base/bytes.ts";
import type { Instant } from "../base/clock.ts";
import type { Space } from "../base/keys.ts";
import type { Stamp } from "../base/stamp.ts";

/**
 * One ordered key-value space with synchronous transactions. Everything but bulk bytes lives here.
 * What an engine promises is written down, and checked, in `store.contract.ts`.
 */
export interface Store {
  /**
   * Runs `body` on one state, between transactions, without waiting for any. Nobody is told of what a
   * crash could take back: who has seen something that is not durable yet hears of it when it is.
   */
  read<T>(body: (view: View) => T): Promise<T>;
  /**
   * Runs `body` until its writes are committed; resolves once they are durable, but for those in
   * `EPHEMERAL_SPACES`, which last from the next other write on. Whatever `body` throws leaves nothing
   * behind and reaches the caller. After a `StoreError` of kind "unknown" nobody knows whether the
   * writes took place.
   */
  transact<T>(body: (tx: Transaction) => T): Promise<T>;
  /**
   * Engines that have a place of its own for what was written a short while ago call `prepare` when it
   * is about to leave that place: who replaces a value by a shorter one meanwhile spares the engine
   * the longer one.
   */
  beforeCheckpoint?(prepare: () => Promise<void>): void;
  /** Waits for what is under way, then lets go of everything. */
  close(): Promise<void>;
}

/**
 * A body is a plain synchronous function: it does not await, has no clock or randomness of its
 * own, keeps no view beyond its end, and may run more than once. So it must not count its runs, nor
 * add to anything outside; what it acquires for its caller it gives back by `onDiscard`.
 */
export interface View {
  /** The value. It must not be changed; whatever is written later, it stays as it is. */
  get(key: Bytes): Bytes | undefined;
  /** Entries with `from <= key < until`, in key order (or backwards, from the last one). */
  range(from: Bytes, until: Bytes, options: RangeOptions): Entry[];
  /**
   * What `derivation` makes of a stretch of keys in which `from` lies. What has to be read for it goes from
   * `from` to `until`, `limit` entries at most, and fewer where they are large; what was kept from
   * before may be longer on both sides. Damaged records are left out, and reported by the engine.
   */
  derivedRange<T extends Derived>(
    derivation: Derivation<T>,
    from: Bytes,
    until: Bytes,
    limit: number,
  ): DerivedRange<T>;
  /** The same instant throughout one body. */
  now(): Instant;
  /**
   * Calls `release` if the caller never gets what this run of the body returns: it throws, it runs
   * again, or its writes are not committed. A body that pins something registers its release here.
   */
  onDiscard(release: () => void): void;
}

export interface Transaction extends View {
  set(key: Bytes, value: Bytes): void;
  delete(key: Bytes): void;
  /**
   * Puts bytes behind a value of `size` bytes, which costs what they cost, however long it is. That is
   * so for values that were written a short while ago only: false, and nothing is done, if it is not
   * one of those, or has another size, or is not there.
   */
  append(key: Bytes, size: number, more: Bytes): boolean;
  /** Greater than every stamp given before, by any transaction, before and after restarts. */
  stamp(): Stamp;
}

export interface RangeOptions {
  readonly limit: number;
  /** The last entry is the one that brings keys and values to this size; without limit unless told. */
  readonly bytesMax?: number;
  readonly reverse?: boolean;
  /** Leaves damaged records out instead of failing. For lists only: the engine reports each of them. */
  readonly sparesDamaged?: boolean;
}

/** Like a value from `get`, it must not be changed and stays as it is. */
export interface Entry {
  readonly key: Bytes;
  readonly value: Bytes;
}

/**
 * How neighbouring entries are made into something that answers questions faster than they do. An
 * engine may keep what was made, within a limit, until one of the entries changes or one comes
 * between them: it must depend on nothing but the entries.
 */
export interface Derivation<T extends Derived> {
  /** In which all of its entries lie. */
  readonly space: Space;
  make(entries: readonly Entry[]): T;
}

export interface Derived {
  /** About what it takes of memory. It may grow with the questions. */
  readonly bytes: number;
}

/**
 * What was made of fewer entries than this is not kept: they are as soon read again, and would cut
 * the keys into many small pieces.
 */
export const CACHED_ENTRIES_MIN = 16;

/** All entries of the state with `from <= key < until`, as they were made into something. */
export interface DerivedRange<T extends Derived> {
  readonly from: Bytes;
  readonly until: Bytes;
  readonly derived: T;
  /** Whether it came at next to no cost. */
  readonly wasCached: boolean;
}

/**
 * - broken: the engine failed; nothing was written.
 * - unknown: it failed at a moment when the writes may or may not have become durable.
 * - damaged: what is stored is not what was written.
 * - full: no space is left; nothing was written.
 */
export type StoreErrorKind = "broken" | "unknown" | "damaged" | "full";

export class StoreError extends Error {
  readonly kind: StoreErrorKind;

  constructor(kind: StoreErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "StoreError";
    this.kind = kind;
  }
}

/** What `read` returns; null if it met a damaged record, which the engine has reported. */
export function unlessDamaged<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof StoreError && error.kind === "damaged") return null;
    throw error;
  }
}

/** Told the key of each damaged record that somebody came upon, perhaps more than once. */
export type OnDamage = (key: Bytes) => void;

/** Whether there was no space for it, and nothing else was wrong. */
export function isFullError(error: unknown): boolean {
  return error instanceof StoreError && error.kind === "full";
}

/**
 * Called once, with the first commit or sync that failed. The process must stop serving and exit:
 * after such an error nobody knows what the disk holds, and only a restart finds out.
 */
export type FailStop = (error: StoreError) => void;
