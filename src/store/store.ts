import type { Bytes } from "../base/bytes.ts";
import type { Instant } from "../base/clock.ts";
import type { Stamp } from "../base/stamp.ts";
import type {
  StoreAcceleration,
  TransactionAcceleration,
  ViewAcceleration,
} from "./acceleration.ts";
import type { Entry } from "./entry.ts";

/**
 * One ordered key-value space with synchronous transactions. It contains everything but bulk bytes.
 *
 * This folder has contracts and their tests, but no implementations. Read it in this order:
 * 1. `store.ts`: records, views and transactions. Engines implement it.
 * 2. `extents.ts`: bulk bytes, written once and found by address. Engines implement it.
 * 3. `content.ts` and `contents.ts`: reference-counted byte sequences, made of records and extents.
 *    `src/content` implements them once, for every engine.
 * 4. `range-map.ts`: the contents that can be written at any offset.
 * 5. `acceleration.ts`: what an engine may add to be faster, and `accelerated.ts`: how callers use
 *    it. Skip both at first.
 *
 * Each `*.contract.ts` is a test suite that runs on every engine. Its test names are the promises.
 */
export interface Store extends Partial<StoreAcceleration> {
  /**
   * Runs `body` on one committed state; never waits for a writer. Resolves once everything that the
   * body has read is durable, so that a crash cannot take back what a caller has seen.
   */
  read<T>(body: (view: View) => T): Promise<T>;
  /**
   * Runs `body` until its writes are committed; resolves once they are durable. Writes to ephemeral
   * keys are the exception: they become durable together with the next other write, because they
   * die with the process anyway. Whatever `body` throws reaches the caller, and nothing is written.
   * After a `StoreError` of kind "unknown" the writes may or may not have taken place.
   */
  transact<T>(body: (tx: Transaction) => T): Promise<T>;
  /** Waits for calls under way, then releases everything. */
  close(): Promise<void>;
}

/**
 * One consistent state of the store, as a body reads it. A body is a plain synchronous function: it
 * does not await, has no clock or randomness of its own, and does not use the view after its end.
 * It may run more than once, so it must not change anything outside, and registers with `onDiscard`
 * how to release what it acquires.
 */
export interface View extends Partial<ViewAcceleration> {
  /** The value. It must not be modified, and later writes do not change it. */
  get(key: Bytes): Bytes | undefined;
  /** Entries with `from <= key < until`, in ascending key order unless `reverse` is set. */
  range(from: Bytes, until: Bytes, options: RangeOptions): Entry[];
  /** The same instant throughout one body. */
  now(): Instant;
  /**
   * Calls `release` if the caller never gets what this run of the body returns: it throws, it runs
   * again, or its writes are not committed. A body that pins something registers its release here.
   */
  onDiscard(release: () => void): void;
}

export interface Transaction extends View, Partial<TransactionAcceleration> {
  set(key: Bytes, value: Bytes): void;
  delete(key: Bytes): void;
  /** Greater than every stamp given before, by any transaction, before and after restarts. */
  stamp(): Stamp;
}

export interface RangeOptions {
  readonly limit: number;
  /** The range ends with the entry that brings keys and values to this size. Default: no limit. */
  readonly bytesMax?: number;
  readonly reverse?: boolean;
  /** Skips damaged records instead of failing. For lists only: the engine reports each of them. */
  readonly skipsDamaged?: boolean;
}

/**
 * Why the engine failed.
 * - broken: an error before the commit; nothing was written.
 * - unknown: the engine failed at a moment when the writes may or may not have become durable.
 * - damaged: stored bytes are missing, or are not those that were written.
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

/** Calls `read`; returns null if it met a damaged record, which the engine has reported. */
export function unlessDamaged<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof StoreError && error.kind === "damaged") return null;
    throw error;
  }
}

/** Receives the key of each damaged record that a reader meets, perhaps more than once. */
export type OnDamage = (key: Bytes) => void;

export function isFullError(error: unknown): boolean {
  return error instanceof StoreError && error.kind === "full";
}

/**
 * Called once, with the first commit or sync that failed. The process must stop serving and exit:
 * the state of the disk is unknown after such an error, and only a restart finds it out.
 */
export type FailStop = (error: StoreError) => void;
