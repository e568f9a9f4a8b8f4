import { Worker } from "node:worker_threads";
import type { Bytes } from "../../base/bytes.ts";
import { KIB } from "../../base/limits.ts";
import { alignedMemory, placeInAlignedMemory } from "../../machine/aligned-bytes.ts";
import { sumsOf } from "./extent-chunks.ts";
import { SumQueue, type Sums } from "./sum-queue.ts";

/** Less is gone through sooner than a thread is told of it. */
const THREAD_BYTES_MIN = 16 * KIB;

type NewWorker = (memory: SharedArrayBuffer) => Worker;

export const newSumWorker: NewWorker = (queue) =>
  new Worker(new URL("./sum-worker.js", import.meta.url), {
    workerData: { alignedMemory, queue },
  });

/** Chunks that are gone through, by the thread or by whoever wants to know. */
export interface SumLook {
  /** To be called once, in any case: a slot is kept for it. */
  sums(): Sums;
}

/**
 * Looks at the bytes of bodies while the disk takes them: they have to be gone through for their CRC-64,
 * and for a checksum, and on the main thread that would be a fifth of what a body of 64 KiB costs it.
 * Whoever needs the sums before they are there computes them himself: hence it does not matter if the
 * thread is late, or has not begun, or has come to its end.
 */
export class SumThread {
  readonly #newWorker: NewWorker;
  #queue: SumQueue | null = null;
  #isWakeDue = false;

  constructor(newWorker = newSumWorker) {
    this.#newWorker = newWorker;
  }

  /** Begins to go through the chunks in `pages`: they must not change until the sums are told. */
  look(pages: Bytes, length: number, chunkBytes: number): SumLook {
    if (length < THREAD_BYTES_MIN) {
      const sums = sumsOf(pages, length, chunkBytes);
      return { sums: () => sums };
    }
    const queue = this.#queue ?? this.#begin();
    const place = placeInAlignedMemory(pages) as number;
    const slot = queue.ask({ place, length, chunkBytes });
    this.#wakeSoon(queue);
    const computed = () => (slot === null ? null : queue.take(slot));
    return { sums: () => computed() ?? sumsOf(pages, length, chunkBytes) };
  }

  #begin(): SumQueue {
    const queue = new SumQueue();
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
  #wakeSoon(queue: SumQueue): void {
    if (this.#isWakeDue) return;
    this.#isWakeDue = true;
    setImmediate(() => {
      this.#isWakeDue = false;
      queue.wake();
    });
  }
}

export const sumThread = new SumThread();
