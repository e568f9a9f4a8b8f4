import type { Bytes } from "../base/bytes.ts";

/**
 * Buffers of one size that are used again and again. New memory of this size costs more than what
 * is done with it: the system clears it page by page, and the garbage collector has to notice it.
 */
export class Slabs {
  readonly bytes: number;
  readonly #idleMax: number;
  readonly #allocate: (bytes: number) => Bytes;
  readonly #idle: Bytes[] = [];
  #taken = 0;

  /** Idle slabs beyond `idleMax` are let go: memory that never goes away needs Infinity. */
  constructor(
    bytes: number,
    idleMax: number,
    allocate: (bytes: number) => Bytes = Buffer.allocUnsafeSlow,
  ) {
    this.bytes = bytes;
    this.#idleMax = idleMax;
    this.#allocate = allocate;
  }

  /** How many are in use. */
  get taken(): number {
    return this.#taken;
  }

  take(): Bytes {
    this.#taken++;
    return this.#idle.pop() ?? this.#allocate(this.bytes);
  }

  /** Only for slabs that nobody looks at any more. */
  release(slab: Bytes): void {
    this.#taken--;
    if (this.#idle.length < this.#idleMax) this.#idle.push(slab);
  }
}
