import { Worker } from "node:worker_threads";
import { alignedMemory, placeInAlignedMemory } from "../../base/aligned-bytes.ts";
import type { Bytes } from "../../base/bytes.ts";
import { bytesOnDisk } from "./extent-chunks.ts";
import { writeParts } from "./write-parts.ts";

const THREADS_MAX = 2;

/** Some bytes of a body in aligned memory, with room for checksums between them. */
export interface Batch {
  readonly slab: Bytes;
  /** Counts the body's bytes. */
  readonly length: number;
  /** How many of them lie between two checksums. */
  readonly chunkBytes: number;
  /** Whether their CRC-64 is wanted. Then their checksums are yet to be put in, too. */
  readonly crc64: boolean;
}

export interface WriteBatches {
  readonly fd: number;
  readonly extent: number;
  readonly position: number;
  readonly batches: readonly Batch[];
}

/** Of each batch the thread is told: its place, length, length of chunks, and 1 if its CRC-64 is wanted. */
export const NUMBERS_PER_BATCH = 4;

export interface WriteAsked {
  readonly fd: number;
  readonly extent: number;
  readonly position: number;
  readonly batches: readonly number[];
}

/** What it answers: remainders for CRC-64, 0 where none was asked for, or why it has failed. */
export type WriteAnswer =
  | { readonly remainders: readonly bigint[] }
  | { readonly message: string; readonly code: string | undefined };

interface Waiting {
  resolve(remainders: readonly bigint[]): void;
  reject(error: Error): void;
}

/**
 * Threads that write batches whose CRC-64 is wanted: they compute it, and put the checksums in, since
 * to look at every byte twice is a large share of a body's way to the disk. One begins when all others
 * are busy, and there is one for each group that may be under way. They keep the process alive only
 * while they have something to do. What needs no CRC-64 any more is written by Node's own threads,
 * which take less to wake up.
 */
class WriteThreads {
  readonly #threads: WriteThread[] = [];

  write(asked: WriteBatches): Promise<readonly bigint[]> {
    const isSealed = asked.batches.every(({ crc64 }) => !crc64);
    return isSealed ? writeSealed(asked) : this.#leastBusy().write(asked);
  }

  #leastBusy(): WriteThread {
    let least: WriteThread | null = null;
    for (const thread of this.#threads) {
      if (least === null || thread.underWay < least.underWay) least = thread;
    }
    if (least !== null && (least.underWay === 0 || this.#threads.length === THREADS_MAX)) {
      return least;
    }
    const thread = new WriteThread(() => this.#threads.splice(this.#threads.indexOf(thread), 1));
    this.#threads.push(thread);
    return thread;
  }
}

async function writeSealed({ fd, position, batches }: WriteBatches): Promise<readonly bigint[]> {
  const pages = batches.map(({ slab, length }) => slab.subarray(0, bytesOnDisk(length)));
  await writeParts(fd, pages, position);
  return batches.map(() => 0n);
}

class WriteThread {
  /** In the order of what was asked. */
  readonly #waiting: Waiting[] = [];
  readonly #worker = new Worker(new URL("./write-worker.js", import.meta.url), {
    workerData: { alignedMemory },
  });

  /** Some failures are the thread's own: that is its end, and `onEnd` is told. */
  constructor(onEnd: () => void) {
    this.#worker.on("message", (answer: WriteAnswer) => this.#answered(answer));
    this.#worker.on("error", (error) => {
      onEnd();
      for (const { reject } of this.#waiting.splice(0)) reject(error);
    });
  }

  get underWay(): number {
    return this.#waiting.length;
  }

  write({ fd, extent, position, batches }: WriteBatches): Promise<readonly bigint[]> {
    const placed: number[] = [];
    for (const { slab, length, chunkBytes, crc64 } of batches) {
      placed.push(placeInAlignedMemory(slab) as number, length, chunkBytes, crc64 ? 1 : 0);
    }
    const asked: WriteAsked = { fd, extent, position, batches: placed };
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) this.#worker.ref();
      this.#waiting.push({ resolve, reject });
      this.#worker.postMessage(asked);
    });
  }

  #answered(answer: WriteAnswer): void {
    const waiting = this.#waiting.shift();
    if (this.#waiting.length === 0) this.#worker.unref();
    if ("remainders" in answer) waiting?.resolve(answer.remainders);
    else waiting?.reject(Object.assign(new Error(answer.message), { code: answer.code }));
  }
}

export const writeThreads = new WriteThreads();
