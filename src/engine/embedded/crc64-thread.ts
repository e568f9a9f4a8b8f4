import { Worker } from "node:worker_threads";
import { alignedMemory, placeInAlignedMemory } from "../../base/aligned-bytes.ts";
import type { Bytes } from "../../base/bytes.ts";
import { KIB } from "../../base/limits.ts";
import { Crc64Queue } from "./crc64-queue.ts";
import { remainderOf } from "./extent-chunks.ts";

/** Less is gone through sooner than a thread is told of it. */
const THREAD_BYTES_MIN = 16 * KIB;

type NewWorker = (memory: SharedArrayBuffer) => Worker;

export const newCrc64Worker: NewWorker = (queue) =>
  new Worker(new URL("./crc64-worker.js", import.meta.url), {
    workerData: { alignedMemory, queue },
  });

/** Chunks that are gone through, by the thread or by whoever wants to know. */
export interface Crc64Look {
  /** What they leave for a CRC-64. To be called once, in any case: a slot is kept for it. */
  remainder(): bigint;
}

/**
 * Looks at the bytes of bodies while the disk takes them: they have to be gone through for their CRC-64,
 * and on the main thread that would be a seventh of what a body of 64 KiB costs it. Whoever
 * needs a remainder before it is there computes it himself: hence it does not matter if the thread is
 * late, or has not begun, or has come to its end.
 */
export class Crc64Thread {
  readonly #newWorker: NewWorker;
  #queue: Crc64Queue | null = null;
  #isWakeDue = false;

  constructor(newWorker = newCrc64Worker) {
    this.#newWorker = newWorker;
  }

  /** Begins to go through the chunks in `pages`: they must not change until the remainder is told. */
  look(pages: Bytes, length: number, chunkBytes: number): Crc64Look {
    if (length < THREAD_BYTES_MIN) {
      const remainder = remainderOf(pages, length, chunkBytes);
      return { remainder: () => remainder };
    }
    const queue = this.#queue ?? this.#begin();
    const place = placeInAlignedMemory(pages) as number;
    const slot = queue.ask({ place, length, chunkBytes });
    this.#wakeSoon(queue);
    const computed = () => (slot === null ? null : queue.take(slot));
    return { remainder: () => computed() ?? remainderOf(pages, length, chunkBytes) };
  }

  #begin(): Crc64Queue {
    const queue = new Crc64Queue();
    const worker = this.#newWorker(queue.memory);
    // It is never at its end by itself, and nobody waits for it.
    worker.unref();
    worker.on("error", () => {
      // Another one would fare no better than one that never came to work.
      if (queue.wasServed) this.#queue = null;
    });
    this.#queue = queue;
    return queue;
  }

  /** To wake a thread up takes a quarter of what it is woken up for: once in a turn of the event loop. */
  #wakeSoon(queue: Crc64Queue): void {
    if (this.#isWakeDue) return;
    this.#isWakeDue = true;
    setImmediate(() => {
      this.#isWakeDue = false;
      queue.wake();
    });
  }
}

export const crc64Thread = new Crc64Thread();
