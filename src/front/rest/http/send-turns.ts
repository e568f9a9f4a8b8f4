/** Of half a mebibyte: few enough that sending them takes less than a millisecond of a turn. */
export const SLICES_PER_TURN = 4;

/**
 * Lets long answers go on by turns. A socket takes megabytes at one go: if everyone who has so much to
 * send were to send it, all others would have to wait for all of them, in each turn of the event loop
 * that their request needs.
 */
export class SendTurns {
  #left = SLICES_PER_TURN;
  #isDue = false;
  /** In the order in which they came. */
  readonly #waiting: (() => void)[] = [];

  /** To be asked before each slice: undefined if it may be sent at once. */
  next(): Promise<void> | undefined {
    this.#wake();
    if (this.#left === 0) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#left--;
    return undefined;
  }

  #wake(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      const next = this.#waiting.splice(0, SLICES_PER_TURN);
      this.#left = SLICES_PER_TURN - next.length;
      if (next.length > 0) this.#wake();
      for (const go of next) go();
    });
  }
}
