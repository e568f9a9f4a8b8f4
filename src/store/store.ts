import type { Bytes } from "../base/bytes.ts";
import type { Instant } from "../base/clock.ts";
import type { Stamp } from "../base/stamp.ts";
import type {
  StoreAcceleration,
  TransactionAcceleration,
  ViewAcceleration,
} from "./acceleration.ts";
import type { Entry, RangeOptions } from "./entry.ts";

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
  /** The longest key that it takes. At least `KEY_BYTES_MAX`, which is what services need. */
  readonly keyBytesMax: number;
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
  /** Calls `listener` with every commit from now on, until the returned function is called. */
  changes(listener: ChangeListener): () => void;
  /** Waits for calls under way, then releases everything. */
  close(): Promise<void>;
}

/**
 * Gets the keys that were written or deleted, in the order of the commits: those of one transaction
 * together, or of several. Called as soon as bodies can read the writes, and before the calls that
 * made them resolve. The writes may not be durable yet: who tells a client of them reads them first.
 * Null if the engine lost track: anything may have changed.
 *
 * It is called between bodies, does not throw, and copies the keys that it needs longer.
 */
export type ChangeListener = (keys: readonly Bytes[] | null) => void;

/**
 * One consistent state of the store, as a body reads it. A body is a plain synchronous function: it
 * does not await, has no clock or randomness of its own, and does not use the view after its end.
 * It may run more than once, so it must not change anything outside, and registers with `onDiscard`
 * how to release what it acquires.
 *
 * An engine need not have all records at hand. Where a body asks for one that is missing, such an
 * engine throws an error of its own out of `get` or `range`, fetches the record, and runs the body
 * again: this is a round. A body lets errors pass that it does not know, and takes few rounds: it
 * names what it will read with `prefetch` (`accelerated.ts`). All rounds of a call have the same
 * time and the same stamps, so that a body may read a key that is made of them. Each round sees one
 * state, and may see a newer one than the round before.
 */
export interface View extends Partial<ViewAcceleration> {
  /** The value. It must not be modified, and later writes do not change it. */
  get(key: Bytes): Bytes | undefined;
  /** Entries with `from <= key < until`, in ascending key order unless `reverse` is set. */
  range(from: Bytes, until: Bytes, options: RangeOptions): Entry[];
  /** The same instant throughout one body, and in all rounds. */
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
  /**
   * Greater than every stamp given before, by any transaction, before and after restarts. A further
   * round gets the same stamps again.
   */
  stamp(): Stamp;
}

/**
 * Why the engine failed.
 * - broken: an error before the commit; nothing was written.
 * - unknown: the engine failed at a moment when the writes may or may not have become durable.
 * - damaged: stored bytes are missing, or are not those that were written.
 * - full: no space is left; nothing was written.
 * - unreachable: the engine cannot be reached at the moment; nothing was written. The process goes
 *   on, and the caller may try again.
 */
export type StoreErrorKind = "broken" | "unknown" | "damaged" | "full" | "unreachable";

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
    if (isDamageError(error)) return null;
    throw error;
  }
}

export function isDamageError(error: unknown): error is StoreError {
  return error instanceof StoreError && error.kind === "damaged";
}

/** Receives the key of each damaged record that a reader meets, perhaps more than once. */
export type OnDamage = (key: Bytes) => void;

export function isFullError(error: unknown): boolean {
  return error instanceof StoreError && error.kind === "full";
}

export function isUnreachable(error: unknown): boolean {
  return error instanceof StoreError && error.kind === "unreachable";
}

/** Whether the writes of a call may have been committed, or not. */
export function isUnknown(error: unknown): error is StoreError {
  return error instanceof StoreError && error.kind === "unknown";
}

/**
 * Called once, with the first commit or sync that failed. The process must stop serving and exit:
 * the state of the disk is unknown after such an error, and only a restart finds it out.
 */
export type FailStop = (error: StoreError) => void;
