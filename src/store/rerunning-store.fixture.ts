import type { Store, Transaction, View } from "./store.ts";

/**
 * Runs every body twice, as a store may, with other bodies in between. It discards the first run's
 * writes, result and errors. The second run has other stamps and another time, so that state which
 * the first run left outside makes tests fail.
 */
export class RerunningStore implements Store {
  /** The store below, for tests that count what a body costs. */
  readonly once: Store;

  constructor(store: Store) {
    this.once = store;
  }

  async read<T>(body: (view: View) => T): Promise<T> {
    await discarded((first) => this.once.read(first), body);
    return this.once.read(body);
  }

  async transact<T>(body: (tx: Transaction) => T): Promise<T> {
    await discarded((first) => this.once.transact(first), body);
    return this.once.transact(body);
  }

  beforeCheckpoint(prepare: () => Promise<void>): void {
    this.once.beforeCheckpoint?.(prepare);
  }

  close(): Promise<void> {
    return this.once.close();
  }
}

/** Thrown at the end of every first run, so that the store discards it. */
class FirstRun extends Error {}

async function discarded<V>(
  run: (body: (view: V) => never) => Promise<never>,
  body: (view: V) => unknown,
): Promise<void> {
  try {
    await run((view) => {
      try {
        body(view);
      } catch {
        // The second run decides.
      }
      throw new FirstRun();
    });
  } catch (error) {
    if (!(error instanceof FirstRun)) throw error;
  }
}
