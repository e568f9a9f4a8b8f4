import assert from "node:assert/strict";
import type { Transaction } from "./store.ts";
import { StoreDecorator } from "./store-decorator.ts";

/** Delays the commit of a write after its body has run, as engines with a write-ahead log may. */
export class LateStore extends StoreDecorator {
  #others: (() => void) | null = null;
  #late: Promise<unknown> = Promise.resolve();

  /** Runs `others` between the body and the commit of the next write, and returns their result. */
  beforeNextCommit<T>(others: () => Promise<T>): Promise<T> {
    return new Promise((resolve) => {
      this.#others = () => resolve(others());
    });
  }

  override async transact<T>(body: (tx: Transaction) => T): Promise<T> {
    await this.#late;
    const others = this.#others;
    if (others === null) return this.inner.transact(body);
    this.#others = null;
    const done = this.#transactLate(body, others);
    this.#late = done;
    return done;
  }

  async #transactLate<T>(body: (tx: Transaction) => T, others: () => void): Promise<T> {
    const writes: ((tx: Transaction) => void)[] = [];
    let result: T | null = null;
    const decided = this.inner.transact((tx) => {
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
      // Nothing to release: the caller does get what this run returns.
      tx.onDiscard = () => {};
      result = body(tx);
      throw new Error("decided");
    });
    await assert.rejects(decided, /decided/);
    others();
    // Give the reads of `others` time to run first.
    for (let read = 0; read < 10; read++) await this.inner.read(() => null);
    await this.inner.transact((tx) => {
      for (const write of writes) write(tx);
    });
    return result as T;
  }
}
