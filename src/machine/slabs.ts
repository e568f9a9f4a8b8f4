import type { Bytes } from "../base/bytes.ts";
import { alignedBytes, freeAlignedBytes } from "./aligned-bytes.ts";

/** Where the slabs of a pool come from and go to. */
export interface SlabMemory {
  allocate(bytes: number): Bytes;
  free(slab: Bytes): void;
}

/** The garbage collector frees it. */
export const HEAP: SlabMemory = { allocate: Buffer.allocUnsafeSlow, free() {} };
export const ALIGNED: SlabMemory = { allocate: alignedBytes, free: freeAlignedBytes };

/**
 * A pool of buffers of one size. Allocating large buffers anew costs more than using them: the
 * system zeroes their pages, and the garbage collector has to free them.
 */
export class Slabs {
  readonly bytes: number;
  readonly #memory: SlabMemory;
  readonly #idle: Bytes[] = [];
  #idleMax: number;
  #taken = 0;

  /** Idle slabs beyond `idleMax` are freed. */
  constructor(bytes: number, idleMax: number, memory = HEAP) {
    this.bytes = bytes;
    this.#idleMax = idleMax;
    this.#memory = memory;
  }

  /** The number of slabs in use. */
  get taken(): number {
    return this.#taken;
  }

  take(): Bytes {
    this.#taken++;
    return this.#idle.pop() ?? this.#memory.allocate(this.bytes);
  }

  /** Gives back a slab, which nobody may use any more. */
  release(slab: Bytes): void {
    this.#taken--;
    if (this.#idle.length < this.#idleMax) this.#idle.push(slab);
    else this.#memory.free(slab);
  }

  /** Frees all idle slabs; slabs in use are freed when they are released. */
  close(): void {
    this.#idleMax = 0;
    for (const slab of this.#idle.splice(0)) this.#memory.free(slab);
  }
}
