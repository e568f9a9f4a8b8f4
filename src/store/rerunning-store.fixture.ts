import type { Store, Transaction, View } from "./store.ts";

/**
 * Runs every body twice, as a store may, and others in between. Of the first run nothing stays: neither
 * its writes nor its result, nor what it throws. Each run gets stamps and a time of its own, which is
 * the strictest: what the first one noted outside does not fit the second.
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

/** Thrown by every first run, so that the store takes it back. */
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
