import type { Bytes } from "../base/bytes.ts";
import { MIB } from "../base/limits.ts";
import { MemoryBudget } from "../base/memory-budget.ts";
import type { Machine } from "../machine/machine.ts";
import { ALIGNED, type Slabs } from "../machine/slabs.ts";
import { STRIDE_BYTES } from "./extent-chunks.ts";
import { SumThread } from "./sum-thread.ts";

/** Memory of one upload: a batch is filled while others are written and seen by taps. */
const OWN_BYTES_MAX = 3 * MIB;
/** An upload may exceed that while all uploads with its batch size together take less than this. */
const SHARED_BYTES_MAX = 16 * MIB;
/** Memory of all uploads, without lean batches. Beyond it, uploads use lean batches. */
const ALL_BYTES_MAX = 64 * MIB;
/** Memory of all lean batches. An upload has one at a time, and waits for it in a fair queue. */
const LEAN_BYTES_MAX = 64 * MIB;
const MEDIUM_BYTES_MAX = 16 * MIB;

/** What the uploads of a server share: memory for their batches, and the thread for their sums. */
export class UploadMemory {
  readonly sums = new SumThread();
  /** The only memory of a slow client, which fills it within minutes or is disconnected. */
  readonly lean: Slabs;
  /** A batch is written in one call. A small body is one batch. */
  readonly #small: Slabs;
  /** Medium bodies use smaller batches so that hashing starts earlier. */
  readonly #medium: Slabs;
  readonly #large: Slabs;
  readonly #leanBudget = new MemoryBudget(LEAN_BYTES_MAX);

  constructor(machine: Machine) {
    const batchesOf = (strides: number) =>
      machine.slabs(strides * STRIDE_BYTES, Number.POSITIVE_INFINITY, ALIGNED);
    this.#small = batchesOf(2);
    this.#medium = batchesOf(4);
    this.#large = batchesOf(16);
    this.lean = batchesOf(1);
    machine.onClose(() => this.sums.close());
  }

  /** The batches for a body that takes this many bytes on disk. */
  batchesFor(bytes: number): Slabs {
    if (bytes <= this.#small.bytes) return this.#small;
    return bytes <= MEDIUM_BYTES_MAX ? this.#medium : this.#large;
  }

  /** Whether an upload may take one more of these batches, besides those it has under way. */
  mayTake({ bytes, taken }: Slabs, underWay: number): boolean {
    if (this.#bytesTaken + bytes > ALL_BYTES_MAX) return false;
    return (underWay + 1) * bytes < OWN_BYTES_MAX || taken * bytes < SHARED_BYTES_MAX;
  }

  /** Waits for a lean batch, which the caller then takes from `lean`. */
  whenLean(): Promise<void> | undefined {
    return this.#leanBudget.take(this.lean.bytes);
  }

  release(slabs: Slabs, slab: Bytes): void {
    slabs.release(slab);
    if (slabs === this.lean) this.#leanBudget.release(slabs.bytes);
  }

  get #bytesTaken(): number {
    let sum = 0;
    for (const { bytes, taken } of [this.#small, this.#medium, this.#large]) sum += bytes * taken;
    return sum;
  }
}
