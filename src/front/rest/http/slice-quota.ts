/** Four slices of half a MiB take less than a millisecond to send. */
export const SLICES_PER_ITERATION = 4;

/**
 * Shares the event loop between long answers: all of them together send only this many slices in
 * one iteration, and wait in a fair queue for the next. A socket accepts megabytes in one write;
 * without a quota, every small request would wait for all downloads in each iteration it needs.
 */
export class SliceQuota {
  #left = SLICES_PER_ITERATION;
  #isRefillDue = false;
  /** First come, first served. */
  readonly #waiting: (() => void)[] = [];

  /** Call before each slice. Returns undefined if the slice may be sent now. */
  take(): Promise<void> | undefined {
    this.#scheduleRefill();
    if (this.#left === 0) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#left--;
    return undefined;
  }

  #scheduleRefill(): void {
    if (this.#isRefillDue) return;
    this.#isRefillDue = true;
    setImmediate(() => {
      this.#isRefillDue = false;
      const next = this.#waiting.splice(0, SLICES_PER_ITERATION);
      this.#left = SLICES_PER_ITERATION - next.length;
      if (next.length > 0) this.#scheduleRefill();
      for (const resume of next) resume();
    });
  }
}
