/** A write that takes longer than this is taken for one that never ends. */
export const WRITE_MS_MAX = 60_000;
/** Timers of a thread that is not busy come sooner than this. */
const LATE_MS_MAX = 1_000;

/**
 * Watches over writes that come one after the other. One timer serves all of them: to set another for
 * each would cost a good part of what a small write costs.
 */
export class InTime {
  #timer: NodeJS.Timeout | null = null;
  #sinceMs = 0;
  #giveUp: () => void = () => {};

  /** Rejects if the disk has not answered in time: after some errors LMDB's promises never settle. */
  watch(writing: Promise<unknown>): Promise<void> {
    return new Promise((resolve, reject) => {
      const seconds = WRITE_MS_MAX / 1_000;
      this.#giveUp = () => reject(new Error(`the disk has not answered for ${seconds} s`));
      this.#start();
      // Once this is settled, giving up means nothing.
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

  /** A timer that comes late shows that this thread was busy: then the answer may wait to be heard. */
  #onTimer(): void {
    const lateMs = performance.now() - this.#sinceMs - WRITE_MS_MAX;
    if (lateMs > LATE_MS_MAX) this.#start();
    else this.#giveUp();
  }
}
