import type { Bytes } from "../base/bytes.ts";
import type { Instant } from "../base/clock.ts";
import type { Stamp } from "../base/stamp.ts";
import type { Entry, RangeOptions } from "./entry.ts";
import type { Transaction } from "./store.ts";

/** A run ends after so many: a body may look for a missing record again and again. */
const GUESSES_MAX = 4_096;

/** Thrown at the end of a run on guesses, so that nothing of it is committed. */
export class OnlyTried extends Error {}

/**
 * Runs a body as a store over a database does to find out what it lacks: all records seem to be
 * absent but those that the body writes. Whatever the run returns or throws is discarded, so it
 * always ends with `OnlyTried`.
 */
export function tryOnGuesses(tx: Transaction, body: (tx: Transaction) => unknown): never {
  try {
    body(new GuessingTransaction(tx));
  } catch {
    // A wrong guess may be the reason.
  }
  throw new OnlyTried();
}

class GuessingTransaction implements Transaction {
  readonly #tx: Transaction;
  readonly #written = new Set<string>();
  #guesses = 0;

  constructor(tx: Transaction) {
    this.#tx = tx;
  }

  get(key: Bytes): Bytes | undefined {
    if (this.#isWritten(key)) return this.#tx.get(key);
    this.#guess();
    return undefined;
  }

  range(from: Bytes, until: Bytes, options: RangeOptions): Entry[] {
    this.#guess();
    if (this.#written.size === 0) return [];
    return this.#tx.range(from, until, options).filter(({ key }) => this.#isWritten(key));
  }

  now(): Instant {
    return this.#tx.now();
  }

  onDiscard(release: () => void): void {
    this.#tx.onDiscard(release);
  }

  set(key: Bytes, value: Bytes): void {
    this.#tx.set(key, value);
    this.#written.add(key.toString("latin1"));
  }

  delete(key: Bytes): void {
    this.#tx.delete(key);
    this.#written.add(key.toString("latin1"));
  }

  stamp(): Stamp {
    return this.#tx.stamp();
  }

  #guess(): void {
    if (++this.#guesses > GUESSES_MAX) throw new OnlyTried();
  }

  #isWritten(key: Bytes): boolean {
    return this.#written.has(key.toString("latin1"));
  }
}
