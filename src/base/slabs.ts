import type { Bytes } from "./bytes.ts";

/**
 * Buffers of one size that are used again and again. New memory of this size costs more than what
 * is done with it: the system clears it page by page, and the garbage collector has to notice it.
 */
export class Slabs {
  readonly #bytes: number;
  readonly #idleMax: number;
  readonly #idle: Bytes[] = [];

  constructor(bytes: number, idleMax: number) {
    this.#bytes = bytes;
    this.#idleMax = idleMax;
  }

  take(): Bytes {
    return this.#idle.pop() ?? Buffer.allocUnsafeSlow(this.#bytes);
  }

  /** Only for slabs that nobody looks at any more. */
  giveBack(slab: Bytes): void {
    if (this.#idle.length < this.#idleMax) this.#idle.push(slab);
  }
}
