/** Requests that wait for a lock, by the file that they want it in. */
export class LockWaits {
  readonly #waiting = new Map<string, Set<() => void>>();

  /**
   * Resolves when somebody lets go of something in this file, or when a signal is aborted. To be
   * called before the lock is tried once more, so that nothing is missed in between.
   */
  next(file: string, signals: readonly AbortSignal[]): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(file) ?? new Set();
      this.#waiting.set(file, waiting);
      const done = () => {
        waiting.delete(done);
        if (waiting.size === 0) this.#waiting.delete(file);
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

  wake(file: string): void {
    for (const done of [...(this.#waiting.get(file) ?? [])]) done();
  }
}
