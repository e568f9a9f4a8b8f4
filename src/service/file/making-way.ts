import { Fault } from "../../base/fault.ts";
import type { Store, Transaction, View } from "../../store/store.ts";
import type { CacheBreaks } from "./cache-breaks.ts";
import { CachesInTheWay } from "./caches-in-the-way.ts";

/**
 * The store for an operation that finds clients keeping something of a file: they are told to give it
 * up, and the body runs again. Who has waited too long in all is refused.
 */
export class MakingWay implements Store {
  readonly #store: Store;
  readonly #breaks: CacheBreaks;
  readonly #patienceMs: number;
  #patience: AbortSignal | null = null;

  constructor(store: Store, breaks: CacheBreaks, patienceMs: number) {
    this.#store = store;
    this.#breaks = breaks;
    this.#patienceMs = patienceMs;
  }

  read<T>(body: (view: View) => T): Promise<T> {
    return this.#run(() => this.#store.read(body));
  }

  transact<T>(body: (tx: Transaction) => T): Promise<T> {
    return this.#run(() => this.#store.transact(body));
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  async #run<T>(attempt: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await attempt();
      } catch (error) {
        if (!(error instanceof CachesInTheWay)) throw error;
        const isClear = await this.#breaks.makeWay(this.#store, error, () => this.#begin());
        if (!isClear) throw new Fault("ClientCacheFlushDelay");
      }
    }
  }

  /** Its time runs from the first wait on. */
  #begin(): AbortSignal {
    if (this.#patience !== null) return this.#patience;
    const end = new AbortController();
    this.#breaks.timer.start(this.#patienceMs, () => end.abort());
    this.#patience = end.signal;
    return end.signal;
  }
}
