/** The most message ids that a client may have to spend, and that may lie between two in use. */
export const CREDITS_MAX = 8_192;

/**
 * Which message ids a client may use. Each is used once, in any order; a credit is leave to use one
 * more. A client that leaves an id out gets no further than the window is wide.
 */
export class CreditWindow {
  /** The first id that has not been used. */
  #low = 0;
  /** The first id beyond the window. */
  #high = 1;
  readonly #used = new Set<number>();

  /** Uses `charge` ids from `id` on; false if one of them is not the client's to use. */
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

  /** Widens the window by what was asked for, as far as that goes, and says by how much. */
  grant(asked: number): number {
    const granted = Math.min(Math.max(asked, 1), CREDITS_MAX - (this.#high - this.#low));
    this.#high += granted;
    return granted;
  }
}
