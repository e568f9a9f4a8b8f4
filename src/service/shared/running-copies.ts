/** Copies from elsewhere that run at the same time; more wait for their turn. */
const COPIES_AT_ONCE_MAX = 4;

/** Copies that go on after the request that began them was answered. */
export class RunningCopies {
  readonly #cancels = new Map<string, AbortController>();
  readonly #ends = new Set<Promise<void>>();
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  /** `copy` tells in the store how it ends; it is asked to end early by its signal. */
  start(id: string, copy: (signal: AbortSignal) => Promise<void>): void {
    const cancel = new AbortController();
    this.#cancels.set(id, cancel);
    const end = this.#run(copy, cancel.signal)
      // Only a store that is broken keeps a copy from telling how it ended, and says so itself.
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

  /** Ends them all where they are. What they were to do stays recorded as under way. */
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
