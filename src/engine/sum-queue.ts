/** A sequence of chunks in aligned memory. */
export interface Chunks {
  readonly place: number;
  /** Bytes of all chunks, without the checksums between them. */
  readonly length: number;
  readonly chunkBytes: number;
}

/** The sums of a sequence of chunks. */
export interface Sums {
  /** The CRC-64 remainder of the bytes. */
  readonly remainder: bigint;
  /** The checksum of the chunk if its piece has only one; otherwise 0. */
  readonly checksum: number;
}

/** The most requests at a time: a power of 2. */
export const SLOTS = 1024;
const LAST_SLOT = SLOTS - 1;

// Signals: the number of requests, the number that the thread is done with, and whether it sleeps.
const ASKED = 0;
const DONE_WITH = 1;
const ASLEEP = 2;
const SIGNALS_BYTES = 64;

// A slot holds four numbers: place, length, length of a chunk, and the state.
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
 * A queue of chunks to be summed, in memory that two threads share: one asks, the other computes,
 * in order. The thread sends no reply: the asking side looks for the result when it needs it. So
 * neither waits for the other, and no message is sent, which would cost more than the sums of 64
 * KiB.
 */
export class SumQueue {
  readonly memory: SharedArrayBuffer;
  readonly #signals: Int32Array;
  readonly #slots: Uint32Array;
  readonly #remainders: BigInt64Array;
  readonly #checksums: Uint32Array;
  /** Asking side: slots whose result was not taken yet. */
  readonly #isAwaited: boolean[] = new Array(SLOTS).fill(false);
  /** The numbers of the next request and of the next one to compute; both wrap at 32 bits. */
  #asked = 0;
  #next = 0;

  constructor(memory = new SharedArrayBuffer(MEMORY_BYTES)) {
    this.memory = memory;
    this.#signals = new Int32Array(memory, 0, SIGNALS_BYTES / 4);
    this.#slots = new Uint32Array(memory, SIGNALS_BYTES, SLOTS * NUMBERS_PER_SLOT);
    this.#remainders = new BigInt64Array(memory, SIGNALS_BYTES + SLOTS_BYTES, SLOTS);
    this.#checksums = new Uint32Array(memory, MEMORY_BYTES - CHECKSUMS_BYTES, SLOTS);
  }

  /** Whether the thread has ever computed anything. */
  get wasServed(): boolean {
    return Atomics.load(this.#signals, DONE_WITH) !== 0;
  }

  /** Requests sums and returns their slot; null if no slot is free. */
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

  /** Wakes the thread. It is costly: call it once per iteration of the event loop. */
  wake(): void {
    if (Atomics.load(this.#signals, ASLEEP) === 1) Atomics.notify(this.#signals, ASKED);
  }

  /** Takes the sums of a slot and frees it. If they are not computed, cancels them: null. */
  take(slot: number): Sums | null {
    this.#isAwaited[slot] = false;
    const state = Atomics.exchange(this.#slots, slot * NUMBERS_PER_SLOT + STATE, UNWANTED);
    if (state !== COMPUTED) return null;
    return {
      remainder: this.#remainders[slot] as bigint,
      checksum: this.#checksums[slot] as number,
    };
  }

  /** Computing side: handles the next request, unless cancelled. False if there is none. */
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
    // From here on the slot belongs to the asking side.
    this.#next = (this.#next + 1) | 0;
    Atomics.store(this.#signals, DONE_WITH, this.#next);
    return true;
  }

  /** Computing side: sleeps until there is a request. */
  sleep(): void {
    Atomics.store(this.#signals, ASLEEP, 1);
    Atomics.wait(this.#signals, ASKED, this.#next);
    Atomics.store(this.#signals, ASLEEP, 0);
  }
}
