/** Numbers from 0 to 1 that depend on the seeds only (mulberry32). */
export class SeededRandom {
  #state: number;

  constructor(...seeds: readonly number[]) {
    this.#state = 0;
    for (const seed of seeds) this.#state = Math.imul(this.#state ^ seed, 0x9e37_79b1) + 1;
  }

  next(): number {
    this.#state = (this.#state + 0x6d2b_79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }
}
