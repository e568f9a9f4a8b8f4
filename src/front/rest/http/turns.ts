/**
 * The requests of one connection run one after the other, in the order in which they came. Clients
 * that send the next before they have the answer to the last mean exactly that.
 */
export class Turns {
  readonly #waiting: (() => void)[] = [];
  #busy = false;

  get idle(): boolean {
    return !this.#busy;
  }

  /** Runs `turn` now or when those before it are over. The number of turns that wait. */
  take(turn: () => void): number {
    if (this.#busy) return this.#waiting.push(turn);
    this.#busy = true;
    turn();
    return 0;
  }

  over(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#busy = false;
    else next();
  }

  /** Nobody will read the answers. */
  abandon(): void {
    this.#waiting.length = 0;
  }
}
