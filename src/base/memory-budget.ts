/** A shared limit on memory. A taker that finds too little left waits in order of arrival. */
export class MemoryBudget {
  readonly bytesMax: number;
  #taken = 0;
  /** Waiting takers, the first to come first. */
  readonly #waiting: { readonly bytes: number; readonly go: () => void }[] = [];

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  get taken(): number {
    return this.#taken;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Takes bytes if there are enough left and nobody waits; returns whether it did. */
  tryTake(bytes: number): boolean {
    if (this.#waiting.length > 0 || !this.#fits(bytes)) return false;
    this.#taken += bytes;
    return true;
  }

  /** Takes bytes, and returns a promise if it has to wait for them. Each take needs one release. */
  take(bytes: number): Promise<void> | undefined {
    if (this.tryTake(bytes)) return undefined;
    return new Promise((go) => this.#waiting.push({ bytes, go }));
  }

  release(bytes: number): void {
    this.#taken -= bytes;
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      if (!this.#fits(next.bytes)) return;
      this.#taken += next.bytes;
      this.#waiting.shift();
      next.go();
    }
  }

  /** Lets a taker of more than the whole budget have it alone, or it would wait for ever. */
  #fits(bytes: number): boolean {
    return this.#taken === 0 || this.#taken + bytes <= this.bytesMax;
  }
}
