import { Worker } from "node:worker_threads";
import type { Bytes } from "../base/bytes.ts";
import { alignedMemory } from "./aligned-bytes.ts";
import { beginMd5In, MD5_SLOT_BYTES, type Md5Parts, md5In } from "./md5-lanes.ts";
import { ALIGNED, Slabs } from "./slabs.ts";

/**
 * MD5 on a worker thread. For a large body MD5 takes as much time as all other steps together. The
 * thread keeps the process alive only while it has work.
 */
export class Md5Thread {
  /** By the place of their slots in memory. */
  readonly #jobs = new Map<number, Md5Job>();
  readonly #slots = new Slabs(MD5_SLOT_BYTES, Number.POSITIVE_INFINITY, ALIGNED);
  #worker: Worker | null = null;
  #isClosed = false;

  begin(): Md5Job {
    if (this.#isClosed) throw new Error("the MD5 thread has ended");
    const worker = this.#worker ?? this.#start();
    const slot = this.#slots.take();
    const job = new Md5Job(
      slot,
      (asked) => worker.postMessage(asked),
      () => {
        this.#jobs.delete(slot.byteOffset);
        this.#slots.release(slot);
        if (this.#jobs.size === 0) worker.unref();
      },
    );
    this.#jobs.set(slot.byteOffset, job);
    worker.ref();
    return job;
  }

  /** Ends the thread. Bodies that are not finished fail. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#worker?.terminate();
    this.#worker = null;
    for (const job of this.#jobs.values()) job.fail(new Error("the MD5 thread has ended"));
    this.#slots.close();
  }

  #start(): Worker {
    const worker = new Worker(new URL("./md5-worker.js", import.meta.url), {
      workerData: { memory: alignedMemory },
    });
    worker.on("message", (slotAt: number) => this.#jobs.get(slotAt)?.answered());
    worker.on("error", (error) => {
      this.#worker = null;
      for (const job of this.#jobs.values()) job.fail(error);
    });
    this.#worker = worker;
    return worker;
  }
}

interface Waiting {
  readonly last: boolean;
  resolve(): void;
  reject(error: Error): void;
}

/** The MD5 of one body. It ends with the last parts, or with `abandon`. */
export class Md5Job {
  readonly #slot: Bytes;
  readonly #post: (asked: Md5Parts) => void;
  readonly #end: () => void;
  /** Updates without an answer yet, in the order of their messages. */
  readonly #waiting: Waiting[] = [];
  #hasLast = false;
  #md5: Bytes | null = null;
  #failure: Error | null = null;

  constructor(slot: Bytes, post: (asked: Md5Parts) => void, end: () => void) {
    this.#slot = slot;
    this.#post = post;
    this.#end = end;
    beginMd5In(slot);
  }

  /** Hashes parts that lie in aligned memory; resolves once the thread has read them. */
  update(parts: readonly Bytes[], last: boolean): Promise<void> {
    if (this.#failure !== null) return Promise.reject(this.#failure);
    this.#hasLast = last;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ last, resolve, reject });
      this.#post({ slot: this.#slot, parts, last });
    });
  }

  /** The MD5. Fails until the last parts have been read. */
  digest(): Bytes {
    if (this.#md5 === null) throw new Error("the MD5 of a body that has not ended");
    return this.#md5;
  }

  abandon(): void {
    if (!this.#hasLast) this.update([], true).catch(ignore);
  }

  /** Called for each answer of the thread. */
  answered(): void {
    const waiting = this.#waiting.shift();
    if (waiting?.last) {
      this.#md5 = md5In(this.#slot);
      this.#end();
    }
    waiting?.resolve();
  }

  /** Called if the thread dies. */
  fail(error: Error): void {
    this.#failure = error;
    this.#end();
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }
}

function ignore(): void {}
