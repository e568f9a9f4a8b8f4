/** Waiting calls, by the name of the event that wakes them. */
export class Waits {
  readonly #waiting = new Map<string, Set<() => void>>();

  /**
   * Resolves when `what` is woken or a signal is aborted. Call it before checking the condition to
   * wait for, so that no event is missed in between.
   */
  next(what: string, signals: readonly AbortSignal[]): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(what) ?? new Set();
      this.#waiting.set(what, waiting);
      const done = () => {
        waiting.delete(done);
        if (waiting.size === 0) this.#waiting.delete(what);
        for (const signal of signals) signal.removeEventListener("abort", done);
        resolve();
      };
      waiting.add(done);
      for (const signal of signals) {
        if (signal.aborted) done();
        else signal.addEventListener("abort", done);
      }
    });
  }

  /** Whether any call waits. */
  get areThere(): boolean {
    return this.#waiting.size > 0;
  }

  wakeAll(): void {
    for (const what of [...this.#waiting.keys()]) this.wake(what);
  }

  wake(what: string): void {
    for (const done of [...(this.#waiting.get(what) ?? [])]) done();
  }
}
