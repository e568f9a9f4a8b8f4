import { Fault } from "../../base/fault.ts";
import type { Store, Transaction, View } from "../../store/store.ts";
import { StoreDecorator } from "../../store/store-decorator.ts";
import { CacheBreakNeeded } from "./cache-break-needed.ts";
import type { CacheBreaks } from "./cache-breaks.ts";

/**
 * The store of a REST request, which breaks the caches of SMB clients when a body needs that, and
 * then runs the body again. Refuses once the waits have taken too long in all.
 */
export class CacheBreakingStore extends StoreDecorator {
  readonly #breaks: CacheBreaks;
  readonly #patienceMs: number;
  #patience: AbortSignal | null = null;

  constructor(store: Store, breaks: CacheBreaks, patienceMs: number) {
    super(store);
    this.#breaks = breaks;
    this.#patienceMs = patienceMs;
  }

  override read<T>(body: (view: View) => T): Promise<T> {
    return this.#run(() => this.inner.read(body));
  }

  override transact<T>(body: (tx: Transaction) => T): Promise<T> {
    return this.#run(() => this.inner.transact(body));
  }

  async #run<T>(attempt: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await attempt();
      } catch (error) {
        if (!(error instanceof CacheBreakNeeded)) throw error;
        const isClear = await this.#breaks.breakCaches(this.inner, error, () => this.#begin());
        if (!isClear) throw new Fault("ClientCacheFlushDelay");
      }
    }
  }

  /** Starts the time limit at the first wait. */
  #begin(): AbortSignal {
    if (this.#patience !== null) return this.#patience;
    const end = new AbortController();
    this.#breaks.timer.start(this.#patienceMs, () => end.abort());
    this.#patience = end.signal;
    return end.signal;
  }
}
