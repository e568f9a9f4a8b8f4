import type { Bytes } from "../../base/bytes.ts";
import { MIB } from "../../base/limits.ts";
import { MemoryBudget } from "../../base/memory-budget.ts";
import type { Machine } from "../../machine/machine.ts";
import type { Slabs } from "../../machine/slabs.ts";

/** A part of an upload. S3 permits 5 MiB to 5 GiB, and 10,000 parts. */
export const PART_BYTES = 8 * MIB;
/** Memory for parts of all uploads. Beyond it they wait, in the order in which they asked. */
const ALL_BYTES_MAX = 256 * MIB;
/** Memory that stays allocated for the next uploads. */
const IDLE_PARTS_MAX = 4;

/** The memory for parts that are being filled or sent. A part stays until the store has it. */
export class PartMemory {
  readonly partBytes: number;
  readonly #slabs: Slabs;
  readonly #budget: MemoryBudget;
  #taken = 0;

  constructor(machine: Machine, partBytes = PART_BYTES, bytesMax = ALL_BYTES_MAX) {
    this.partBytes = partBytes;
    this.#slabs = machine.slabs(partBytes, IDLE_PARTS_MAX);
    this.#budget = new MemoryBudget(bytesMax);
  }

  /** Bytes of all parts in use. */
  get taken(): number {
    return this.#taken;
  }

  /** Memory for this many bytes, at most a part. Each needs one `release`. */
  async take(bytes: number): Promise<Bytes> {
    await this.#budget.take(bytes);
    this.#taken += bytes;
    return bytes === this.partBytes ? this.#slabs.take() : Buffer.allocUnsafeSlow(bytes);
  }

  release(memory: Bytes): void {
    if (memory.length === this.partBytes) this.#slabs.release(memory);
    this.#taken -= memory.length;
    this.#budget.release(memory.length);
  }
}
