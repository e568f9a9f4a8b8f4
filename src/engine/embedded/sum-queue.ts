/** Bytes in aligned memory, in chunks. */
export interface Chunks {
  readonly place: number;
  /** Counts the bytes without what lies between the chunks. */
  readonly length: number;
  readonly chunkBytes: number;
}

/** What was found when bytes were gone through. */
export interface Sums {
  /** What they leave for a CRC-64. */
  readonly remainder: bigint;
  /** Of the chunk, if it is the only one that its piece may have; otherwise 0. */
  readonly checksum: number;
}

/** As many may be asked for at one time: a power of 2. */
export const SLOTS = 1024;
const LAST_SLOT = SLOTS - 1;

// What is signalled: how many were asked for, how many the thread is done with, and whether it sleeps.
const ASKED = 0;
const DONE_WITH = 1;
const ASLEEP = 2;
const SIGNALS_BYTES = 64;

// What a slot holds, by turns: place, length, length of chunks, and the state.
const NUMBERS_PER_SLOT = 4;
const STATE = 3;
const UNWANTED = 0;
const WANTED = 1;
const COMPUTED = 2;

const SLOTS_BYTES = SLOTS * NUMBERS_PER_SLOT * 4;
const REMAINDERS_BYTES = SLOTS * 8;
const CHECKSUMS_BYTES = SLOTS * 4;
const MEMORY_BYTES = SIGNALS_BYTES + SLOTS_BYTES + REMAINDERS_BYTES + CHECKSUMS_BYTES;

/**
 * Chunks whose sums are wanted, in memory that two threads share: one asks, the other computes, in
 * the order of what was asked. No answer is sent: the one who asked looks whether it is there when it
 * is needed. So nobody ever waits for the other, and a message, which would take longer than the sums
 * of 64 KiB do, is saved.
 */
export class SumQueue {
  readonly memory: SharedArrayBuffer;
  readonly #signals: Int32Array;
  readonly #slots: Uint32Array;
  readonly #remainders: BigInt64Array;
  readonly #checksums: Uint32Array;
  /** For the one who asks: slots whose answer was not looked for yet. */
  readonly #isAwaited: boolean[] = new Array(SLOTS).fill(false);
  /** What was asked for, and what the thread does next. Both count on and on, through all 32 bits. */
  #asked = 0;
  #next = 0;

  constructor(memory = new SharedArrayBuffer(MEMORY_BYTES)) {
    this.memory = memory;
    this.#signals = new Int32Array(memory, 0, SIGNALS_BYTES / 4);
    this.#slots = new Uint32Array(memory, SIGNALS_BYTES, SLOTS * NUMBERS_PER_SLOT);
    this.#remainders = new BigInt64Array(memory, SIGNALS_BYTES + SLOTS_BYTES, SLOTS);
    this.#checksums = new Uint32Array(memory, MEMORY_BYTES - CHECKSUMS_BYTES, SLOTS);
  }

  /** Whether the thread has ever been there. */
  get wasServed(): boolean {
    return Atomics.load(this.#signals, DONE_WITH) !== 0;
  }

  /** Tells the slot in which the sums will be; null if there is none left. */
  ask({ place, length, chunkBytes }: Chunks): number | null {
    const slot = this.#asked & LAST_SLOT;
    const ahead = (this.#asked - Atomics.load(this.#signals, DONE_WITH)) | 0;
    if (this.#isAwaited[slot] || ahead >= SLOTS) return null;
    this.#isAwaited[slot] = true;
    const at = slot * NUMBERS_PER_SLOT;
    this.#slots[at] = place;
    this.#slots[at + 1] = length;
    this.#slots[at + 2] = chunkBytes;
    Atomics.store(this.#slots, at + STATE, WANTED);
    this.#asked = (this.#asked + 1) | 0;
    Atomics.store(this.#signals, ASKED, this.#asked);
    return slot;
  }

  /** Worth its while only once for all that was asked in a turn of the event loop. */
  wake(): void {
    if (Atomics.load(this.#signals, ASLEEP) === 1) Atomics.notify(this.#signals, ASKED);
  }

  /** The sums, if they were computed; null if not, and then they are no longer wanted. */
  take(slot: number): Sums | null {
    this.#isAwaited[slot] = false;
    const state = Atomics.exchange(this.#slots, slot * NUMBERS_PER_SLOT + STATE, UNWANTED);
    if (state !== COMPUTED) return null;
    return {
      remainder: this.#remainders[slot] as bigint,
      checksum: this.#checksums[slot] as number,
    };
  }

  /** For the thread: computes the sums of one, if they are still wanted. False if nothing is left to do. */
  computeNext(sumsOf: (chunks: Chunks) => Sums): boolean {
    if (this.#next === Atomics.load(this.#signals, ASKED)) return false;
    const slot = this.#next & LAST_SLOT;
    const at = slot * NUMBERS_PER_SLOT;
    if (Atomics.load(this.#slots, at + STATE) === WANTED) {
      const [place, length, chunkBytes] = this.#slots.subarray(at, at + STATE);
      const { remainder, checksum } = sumsOf({ place, length, chunkBytes } as Chunks);
      this.#remainders[slot] = remainder;
      this.#checksums[slot] = checksum;
      Atomics.store(this.#slots, at + STATE, COMPUTED);
    }
    // From here on the slot is the other's.
    this.#next = (this.#next + 1) | 0;
    Atomics.store(this.#signals, DONE_WITH, this.#next);
    return true;
  }

  /** For the thread: until there is something to do. */
  sleep(): void {
    Atomics.store(this.#signals, ASLEEP, 1);
    Atomics.wait(this.#signals, ASKED, this.#next);
    Atomics.store(this.#signals, ASLEEP, 0);
  }
}
