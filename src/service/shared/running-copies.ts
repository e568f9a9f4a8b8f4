/** Copies from foreign sources that run at the same time; more wait in a queue. */
const COPIES_AT_ONCE_MAX = 4;

/** Runs copies that go on after the request that started them was answered. */
export class RunningCopies {
  /** The number of this front end, with which its copies are marked; 0 if there is only one. */
  readonly frontEnd: number;
  readonly #cancels = new Map<string, AbortController>();
  readonly #ends = new Set<Promise<void>>();
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(frontEnd = 0) {
    this.frontEnd = frontEnd;
  }

  /**
   * Starts a copy. `copy` records its own end in the store, and ends early when its signal aborts.
   */
  start(id: string, copy: (signal: AbortSignal) => Promise<void>): void {
    const cancel = new AbortController();
    this.#cancels.set(id, cancel);
    const end = this.#run(copy, cancel.signal)
      // A copy fails to record its end only if the store is broken, which reports that itself.
      .catch(() => {})
      .finally(() => {
        this.#cancels.delete(id);
        this.#ends.delete(end);
      });
    this.#ends.add(end);
  }

  cancel(id: string): void {
    this.#cancels.get(id)?.abort();
  }

  /** Ends all copies where they are. Their records stay pending. */
  async stop(): Promise<void> {
    for (const cancel of this.#cancels.values()) cancel.abort();
    await Promise.all(this.#ends);
  }

  async #run(copy: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void> {
    if (this.#running >= COPIES_AT_ONCE_MAX) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    this.#running++;
    try {
      if (!signal.aborted) await copy(signal);
    } finally {
      this.#running--;
      this.#waiting.shift()?.();
    }
  }
}
