/** Small requests of this number take some tenths of a second. */
const WAITING_MAX = 2_048;

/**
 * Requests of all REST services that were admitted and have no answer yet. A request does not count
 * while its client sends the body or reads the answer: the server has nothing to do then.
 */
export class WaitingWork {
  readonly #max: number;
  #requests = 0;

  constructor(max = WAITING_MAX) {
    this.#max = max;
  }

  get requests(): number {
    return this.#requests;
  }

  /** Whether the next request is refused, because it would wait too long. */
  get isTooMuch(): boolean {
    return this.#requests >= this.#max;
  }

  begin(): void {
    this.#requests++;
  }

  end(): void {
    this.#requests--;
  }
}
