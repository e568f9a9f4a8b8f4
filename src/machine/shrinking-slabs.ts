import type { Bytes } from "../base/bytes.ts";

/** Node has resizable buffers; the type definitions in use do not. */
interface ResizableBuffer extends ArrayBuffer {
  resize(bytes: number): void;
}
type NewResizableBuffer = new (
  bytes: number,
  options: { readonly maxByteLength: number },
) => ResizableBuffer;

const NONE_USED = new Uint8Array(0);

/**
 * A pool of buffers of one size that returns memory to the system when fewer are in use. Buffers
 * from the heap would fragment it: after a thousand of 64 KiB, the process kept nearly all memory.
 */
export class ShrinkingSlabs {
  readonly bytes: number;
  readonly #slabsMax: number;
  #slabsMin: number;
  #memory: ResizableBuffer | null = null;
  /** 1 for each slab in use. */
  #used = NONE_USED;
  #slabs = 0;

  /** The pool does not shrink below `slabsMin` slabs, and does not grow beyond `slabsMax`. */
  constructor(bytes: number, slabsMin: number, slabsMax: number) {
    this.bytes = bytes;
    this.#slabsMin = slabsMin;
    this.#slabsMax = slabsMax;
  }

  /** The number of slabs that there is memory for now. */
  get slabs(): number {
    return this.#slabs;
  }

  /** Borrows a slab; null if all are in use. */
  take(): Bytes | null {
    const memory = this.#memory ?? this.#reserve();
    const slab = this.#used.indexOf(0);
    if (slab < 0) return null;
    if (slab >= this.#slabs) this.#resize(Math.max(slab + 1, this.#slabsMin));
    this.#used[slab] = 1;
    return Buffer.from(memory, slab * this.bytes, this.bytes);
  }

  /** Gives back a slab from `take`, which nobody may use any more. */
  release({ byteOffset }: Bytes): void {
    this.#used[byteOffset / this.bytes] = 0;
    const end = this.#used.lastIndexOf(1, this.#slabs - 1) + 1;
    // Shrink only by half or more, because getting memory from the system again is slow.
    if (end <= this.#slabs / 2) this.#resize(Math.max(end, this.#slabsMin));
  }

  /** Returns the memory to the system, up to the last slab in use. */
  close(): void {
    this.#slabsMin = 0;
    this.#resize(this.#used.lastIndexOf(1) + 1);
  }

  #resize(slabs: number): void {
    if (slabs === this.#slabs) return;
    this.#slabs = slabs;
    this.#memory?.resize(slabs * this.bytes);
  }

  /** Reserves address space at the first use, because most pools are never used. */
  #reserve(): ResizableBuffer {
    const Resizable = ArrayBuffer as unknown as NewResizableBuffer;
    this.#memory = new Resizable(0, { maxByteLength: this.bytes * this.#slabsMax });
    this.#used = new Uint8Array(this.#slabsMax);
    return this.#memory;
  }
}
