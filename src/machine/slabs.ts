import type { Bytes } from "../base/bytes.ts";

/**
 * A pool of buffers of one size. Allocating large buffers anew costs more than using them: the
 * system zeroes their pages, and the garbage collector has to free them.
 */
export class Slabs {
  readonly bytes: number;
  readonly #idleMax: number;
  readonly #allocate: (bytes: number) => Bytes;
  readonly #idle: Bytes[] = [];
  #taken = 0;

  /** Idle slabs beyond `idleMax` are garbage-collected. Pass Infinity for aligned memory. */
  constructor(
    bytes: number,
    idleMax: number,
    allocate: (bytes: number) => Bytes = Buffer.allocUnsafeSlow,
  ) {
    this.bytes = bytes;
    this.#idleMax = idleMax;
    this.#allocate = allocate;
  }

  /** The number of slabs in use. */
  get taken(): number {
    return this.#taken;
  }

  take(): Bytes {
    this.#taken++;
    return this.#idle.pop() ?? this.#allocate(this.bytes);
  }

  /** Gives back a slab, which nobody may use any more. */
  release(slab: Bytes): void {
    this.#taken--;
    if (this.#idle.length < this.#idleMax) this.#idle.push(slab);
  }
}
