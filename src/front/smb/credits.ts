/** The most credits of a client, and the greatest distance between two message ids in use. */
export const CREDITS_MAX = 8_192;

/**
 * The window of message ids that a client may use. Each is used once, in any order; a credit allows
 * one more. A client that skips an id gets no further than the width of the window.
 */
export class CreditWindow {
  /** The first id that has not been used. */
  #low = 0;
  /** The first id beyond the window. */
  #high = 1;
  readonly #used = new Set<number>();

  /** Uses `charge` ids from `id` on; false if one of them is used already or outside the window. */
  use(id: number, charge: number): boolean {
    if (id < this.#low || id + charge > this.#high) return false;
    // The usual case: a client that uses its ids in order.
    if (id === this.#low && this.#used.size === 0) {
      this.#low += charge;
      return true;
    }
    for (let one = id; one < id + charge; one++) if (this.#used.has(one)) return false;
    for (let one = id; one < id + charge; one++) this.#used.add(one);
    while (this.#used.delete(this.#low)) this.#low++;
    return true;
  }

  /** Widens the window as asked, up to the limit, and returns by how much. */
  grant(asked: number): number {
    const granted = Math.min(Math.max(asked, 1), CREDITS_MAX - (this.#high - this.#low));
    this.#high += granted;
    return granted;
  }
}
