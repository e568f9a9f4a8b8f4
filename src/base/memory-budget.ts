/** Bytes of memory that many share. Whoever finds too little left waits in a fair queue. */
export class MemoryBudget {
  readonly bytesMax: number;
  #taken = 0;
  /** In the order in which they came. */
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

  /** False, and nothing is taken, if there is too little left or others wait. */
  tryTake(bytes: number): boolean {
    if (this.#waiting.length > 0 || !this.#fits(bytes)) return false;
    this.#taken += bytes;
    return true;
  }

  /** Undefined if the bytes were there at once. Each take needs one release. */
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

  /** More than there ever is fits when nobody else has any: it would wait for ever otherwise. */
  #fits(bytes: number): boolean {
    return this.#taken === 0 || this.#taken + bytes <= this.bytesMax;
  }
}
