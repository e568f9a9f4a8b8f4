/** A write that takes longer than this counts as hung. */
export const WRITE_MS_MAX = 60_000;
/** A timer that fires later than this shows that this thread was busy. */
const LATE_MS_MAX = 1_000;

/**
 * A watchdog for consecutive writes. It reuses one timer, because a new timer per write would cost
 * a good part of what a small write costs.
 */
export class WriteWatchdog {
  #timer: NodeJS.Timeout | null = null;
  #sinceMs = 0;
  #giveUp: () => void = () => {};

  /** Rejects if the write does not end in time: after some errors, lmdb's promises never settle. */
  watch(writing: Promise<unknown>): Promise<void> {
    return new Promise((resolve, reject) => {
      const seconds = WRITE_MS_MAX / 1_000;
      this.#giveUp = () => reject(new Error(`the disk has not answered for ${seconds} s`));
      this.#start();
      // Once the promise is settled, a later `#giveUp` has no effect.
      writing.then(() => resolve(), reject);
    });
  }

  #start(): void {
    this.#sinceMs = performance.now();
    if (this.#timer === null) {
      this.#timer = setTimeout(() => this.#onTimer(), WRITE_MS_MAX).unref();
    } else {
      this.#timer.refresh();
    }
  }

  /** Restarts a timer that was late: this thread was busy, and the result may be queued already. */
  #onTimer(): void {
    const lateMs = performance.now() - this.#sinceMs - WRITE_MS_MAX;
    if (lateMs > LATE_MS_MAX) this.#start();
    else this.#giveUp();
  }
}
