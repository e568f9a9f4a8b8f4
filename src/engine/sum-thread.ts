import { Worker } from "node:worker_threads";
import type { Bytes } from "../base/bytes.ts";
import { KIB } from "../base/limits.ts";
import {
  type AlignedRoom,
  alignedBytes,
  freeAlignedBytes,
  placeInAlignedMemory,
  roomForWorker,
} from "../machine/aligned-bytes.ts";
import { sumsOf } from "./extent-chunks.ts";
import { SumQueue, type Sums } from "./sum-queue.ts";

/** Fewer bytes are summed faster on this thread than handed to another one. */
const THREAD_BYTES_MIN = 16 * KIB;

/** The tables and the working memory of a CRC-64, in aligned memory. */
export const SUM_WORKER_BYTES = 256 * KIB;

type NewWorker = (queue: SharedArrayBuffer, alignedRoom: AlignedRoom) => Worker;

export const newSumWorker: NewWorker = (queue, alignedRoom) =>
  new Worker(new URL("./sum-worker.js", import.meta.url), { workerData: { alignedRoom, queue } });

/** Sums that the thread is computing. */
export interface PendingSums {
  /** Returns the sums, computed here if the thread has not. Call it once: it frees a slot. */
  sums(): Sums;
}

/**
 * A worker thread that computes the CRC-64 and the checksum of bodies while they are being written.
 * On the main thread that would be a fifth of the cost of a body of 64 KiB. A caller that needs
 * sums before they are ready computes them itself, so the thread may be late, not started, or dead.
 */
export class SumThread {
  readonly #newWorker: NewWorker;
  #queue: SumQueue | null = null;
  #worker: Worker | null = null;
  #isWakeDue = false;
  #isClosed = false;

  constructor(newWorker = newSumWorker) {
    this.#newWorker = newWorker;
  }

  /** Starts summing the chunks in `pages`, which must not change until the sums are taken. */
  begin(pages: Bytes, length: number, chunkBytes: number): PendingSums {
    if (length < THREAD_BYTES_MIN || this.#isClosed) {
      const sums = sumsOf(pages, length, chunkBytes);
      return { sums: () => sums };
    }
    const queue = this.#queue ?? this.#start();
    const place = placeInAlignedMemory(pages) as number;
    const slot = queue.ask({ place, length, chunkBytes });
    this.#wakeSoon(queue);
    const computed = () => (slot === null ? null : queue.take(slot));
    return { sums: () => computed() ?? sumsOf(pages, length, chunkBytes) };
  }

  /** Ends the thread. Later sums are computed by their caller. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#worker?.terminate();
  }

  #start(): SumQueue {
    const queue = new SumQueue();
    const own = alignedBytes(SUM_WORKER_BYTES);
    const worker = this.#newWorker(queue.memory, roomForWorker(own));
    worker.once("exit", () => freeAlignedBytes(own));
    // The thread runs for ever and must not keep the process alive.
    worker.unref();
    worker.on("error", () => {
      // Restart only a thread that has worked before: a new one would fail the same way.
      if (queue.wasServed) this.#queue = null;
    });
    this.#queue = queue;
    this.#worker = worker;
    return queue;
  }

  /** Wakes the thread once per iteration of the event loop: waking costs a quarter of the sums. */
  #wakeSoon(queue: SumQueue): void {
    if (this.#isWakeDue) return;
    this.#isWakeDue = true;
    setImmediate(() => {
      this.#isWakeDue = false;
      queue.wake();
    });
  }
}
