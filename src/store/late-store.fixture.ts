import assert from "node:assert/strict";
import type { Store, Transaction, View } from "./store.ts";

/** Has a write decided before others look, and committed behind that, as engines with a log may. */
export class LateStore implements Store {
  readonly #inner: Store;
  #others: (() => void) | null = null;
  #late: Promise<unknown> = Promise.resolve();

  constructor(inner: Store) {
    this.#inner = inner;
  }

  /** What others come to who begin between the decision and the commit of the next write. */
  beforeNextCommit<T>(others: () => Promise<T>): Promise<T> {
    return new Promise((resolve) => {
      this.#others = () => resolve(others());
    });
  }

  read<T>(body: (view: View) => T): Promise<T> {
    return this.#inner.read(body);
  }

  async transact<T>(body: (tx: Transaction) => T): Promise<T> {
    await this.#late;
    const others = this.#others;
    if (others === null) return this.#inner.transact(body);
    this.#others = null;
    const done = this.#transactLate(body, others);
    this.#late = done;
    return done;
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  async #transactLate<T>(body: (tx: Transaction) => T, others: () => void): Promise<T> {
    const writes: ((tx: Transaction) => void)[] = [];
    let result: T | null = null;
    const decided = this.#inner.transact((tx) => {
      const set = tx.set.bind(tx);
      const remove = tx.delete.bind(tx);
      tx.set = (key, value) => {
        writes.push((later) => later.set(key, value));
        set(key, value);
      };
      tx.delete = (key) => {
        writes.push((later) => later.delete(key));
        remove(key);
      };
      // The caller does get what this run returns.
      tx.onDiscard = () => {};
      result = body(tx);
      throw new Error("decided");
    });
    await assert.rejects(decided, /decided/);
    others();
    // Those look now.
    for (let turn = 0; turn < 10; turn++) await this.#inner.read(() => null);
    await this.#inner.transact((tx) => {
      for (const write of writes) write(tx);
    });
    return result as T;
  }
}
