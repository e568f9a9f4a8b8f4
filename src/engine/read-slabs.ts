import { type BorrowedBuffer, copyParts } from "../base/borrowed-buffer.ts";
import type { Bytes } from "../base/bytes.ts";
import { MemoryBudget } from "../base/memory-budget.ts";
import type { Machine } from "../machine/machine.ts";
import { ShrinkingSlabs } from "../machine/shrinking-slabs.ts";
import { ALIGNED, type Slabs } from "../machine/slabs.ts";
import { STRIDE_BYTES } from "./extent-chunks.ts";

/** The most chunks in one read: a mebibyte, and the chunk it ends in. They fill a slab. */
export const READ_CHUNKS_MAX = 17;
/** Slabs that one reader gets at a time, read by as many threads, while few are in use. */
const SLABS_AT_ONCE_MAX = 4;
const FEW_SLABS_MAX = 16;
/** Beyond this many borrowed slabs, reads are copied: the system never gets aligned memory back. */
const BORROWED_SLABS_MAX = 24;
const COPIED_CHUNKS_MAX = 8;
/** Slabs beyond those for reads that are copied, and release their slab before bytes are sent. */
const READING_SLABS_MAX = 8;
const SLAB_BYTES = READ_CHUNKS_MAX * STRIDE_BYTES;
/** Each copy is of one chunk. Beyond `COPIES_MAX`, copies go to the heap. */
const IDLE_COPIES_MAX = 16;
const COPIES_MAX = 4_096;

/** The memory that a server reads extents into, and that those who send the bytes borrow. */
export class ReadSlabs {
  readonly #slabs: Slabs;
  readonly #copies = new ShrinkingSlabs(STRIDE_BYTES, IDLE_COPIES_MAX, COPIES_MAX);
  /**
   * Reads wait for a slab in a fair queue, but never for a client: borrowed slabs stay below the
   * limit.
   */
  readonly #budget = new MemoryBudget((BORROWED_SLABS_MAX + READING_SLABS_MAX) * SLAB_BYTES);

  constructor(machine: Machine) {
    this.#slabs = machine.slabs(SLAB_BYTES, Number.POSITIVE_INFINITY, ALIGNED);
    machine.onClose(() => this.#copies.close());
  }

  /** How many chunks a reader may ask for at a time. */
  get chunksAtOnce(): number {
    const { taken } = this.#slabs;
    if (taken < FEW_SLABS_MAX) return SLABS_AT_ONCE_MAX * READ_CHUNKS_MAX;
    return taken < BORROWED_SLABS_MAX ? READ_CHUNKS_MAX : COPIED_CHUNKS_MAX;
  }

  /** Waits for a slab, which the caller then takes. */
  whenFree(): Promise<void> | undefined {
    return this.#budget.take(SLAB_BYTES);
  }

  take(): Bytes {
    return this.#slabs.take();
  }

  release(slab: Bytes): void {
    this.#slabs.release(slab);
    this.#budget.release(SLAB_BYTES);
  }

  /** Passes on parts of a slab; copies of them if too many slabs are borrowed. */
  borrow(slab: Bytes, parts: readonly Bytes[]): BorrowedBuffer {
    if (this.#slabs.taken > BORROWED_SLABS_MAX) return this.#copied(slab, parts);
    return { parts, mayOverwrite: true, release: () => this.release(slab) };
  }

  /** Copies the bytes into smaller memory, which is returned to the system later. */
  #copied(slab: Bytes, parts: readonly Bytes[]): BorrowedBuffer {
    const copies = parts.map((part) => this.#copyOf(part));
    this.release(slab);
    const release = () => {
      for (const { memory } of copies) if (memory !== null) this.#copies.release(memory);
    };
    return { parts: copies.map(({ bytes }) => bytes), mayOverwrite: true, release };
  }

  #copyOf(part: Bytes): { readonly bytes: Bytes; readonly memory: Bytes | null } {
    const memory = this.#copies.take();
    const bytes = memory?.subarray(0, part.length) ?? Buffer.allocUnsafeSlow(part.length);
    copyParts([part], bytes);
    return { bytes, memory };
  }
}
