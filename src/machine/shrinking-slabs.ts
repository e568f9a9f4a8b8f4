import type { Bytes } from "../base/bytes.ts";

/** Node has them; the type definitions in use do not. */
interface ResizableBuffer extends ArrayBuffer {
  resize(bytes: number): void;
}
type NewResizableBuffer = new (
  bytes: number,
  options: { readonly maxByteLength: number },
) => ResizableBuffer;

/**
 * Buffers of one size, whose memory goes back to the system when fewer are in use. Buffers from the heap would
 * leave it full of holes: after a thousand of 64 KiB nearly all of their memory stayed with the process.
 */
export class ShrinkingSlabs {
  readonly bytes: number;
  readonly #slabsMin: number;
  readonly #memory: ResizableBuffer;
  /** 1 for each that is in use. */
  readonly #used: Uint8Array;
  #slabs = 0;

  /** Memory for `slabsMin` of them stays once it was used; there are never more than `slabsMax`. */
  constructor(bytes: number, slabsMin: number, slabsMax: number) {
    const Resizable = ArrayBuffer as unknown as NewResizableBuffer;
    this.bytes = bytes;
    this.#slabsMin = slabsMin;
    this.#memory = new Resizable(0, { maxByteLength: bytes * slabsMax });
    this.#used = new Uint8Array(slabsMax);
  }

  /** How many there is memory for at the moment. */
  get slabs(): number {
    return this.#slabs;
  }

  /** Null if all are in use. */
  take(): Bytes | null {
    const slab = this.#used.indexOf(0);
    if (slab < 0) return null;
    if (slab >= this.#slabs) this.#resize(Math.max(slab + 1, this.#slabsMin));
    this.#used[slab] = 1;
    return Buffer.from(this.#memory, slab * this.bytes, this.bytes);
  }

  /** Only for what `take` returned, and nobody looks at any more. */
  release({ byteOffset }: Bytes): void {
    this.#used[byteOffset / this.bytes] = 0;
    const end = this.#used.lastIndexOf(1, this.#slabs - 1) + 1;
    // Half of it at a time: the system takes longer to hand out memory than we need it for.
    if (end <= this.#slabs / 2) this.#resize(Math.max(end, this.#slabsMin));
  }

  #resize(slabs: number): void {
    if (slabs === this.#slabs) return;
    this.#slabs = slabs;
    this.#memory.resize(slabs * this.bytes);
  }
}
