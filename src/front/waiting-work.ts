/** Some tenths of a second of small requests. */
const WAITING_MAX = 2_048;

/**
 * Requests of all REST services that were admitted and have no answer yet. Time in which the client has yet to send
 * its body, or to read its answer, does not count: there is nothing for us to do then.
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

  /** Whether another request would wait for so long that its client had better come back later. */
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
