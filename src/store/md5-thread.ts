import { Worker } from "node:worker_threads";
import type { Bytes } from "../base/bytes.ts";

/** Bodies that the thread works on at one time. */
const JOBS_MAX = 4;

export interface ToMd5Worker {
  readonly job: number;
  /** Looked at where they are, if their memory is shared. */
  readonly parts: readonly Uint8Array[];
  readonly last: boolean;
}

/** Answers every message: its parts have been read. */
export interface FromMd5Worker {
  readonly job: number;
  /** Answers the last one. */
  readonly md5: Uint8Array | null;
}

/**
 * MD5 on a thread of its own. For a large body it is the slowest step by far, and as much work as all
 * others together. The thread keeps the process alive only while it has something to do.
 */
export class Md5Thread {
  readonly #jobs = new Map<number, Md5Job>();
  #worker: Worker | null = null;
  #lastJob = 0;

  /** Null if the thread has enough to do: then the caller gets further by itself. */
  begin(): Md5Job | null {
    if (this.#jobs.size >= JOBS_MAX) return null;
    const worker = this.#worker ?? this.#start();
    const number = ++this.#lastJob;
    const job = new Md5Job(
      (parts, last) => worker.postMessage({ job: number, parts, last } satisfies ToMd5Worker),
      () => {
        this.#jobs.delete(number);
        if (this.#jobs.size === 0) worker.unref();
      },
    );
    this.#jobs.set(number, job);
    worker.ref();
    return job;
  }

  #start(): Worker {
    const worker = new Worker(new URL("./md5-worker.js", import.meta.url));
    worker.on("message", ({ job, md5 }: FromMd5Worker) => this.#jobs.get(job)?.answered(md5));
    worker.on("error", (error) => {
      this.#worker = null;
      for (const job of this.#jobs.values()) job.fail(error);
    });
    this.#worker = worker;
    return worker;
  }
}

type PostParts = (parts: readonly Uint8Array[], last: boolean) => void;

interface Waiting {
  resolve(): void;
  reject(error: Error): void;
}

/** One body's MD5. It ends with `digest` or `abandon`. */
export class Md5Job {
  readonly #post: PostParts;
  readonly #end: () => void;
  /** For answers, in the order of the messages. */
  readonly #waiting: Waiting[] = [];
  #md5: Bytes | null = null;
  #failure: Error | null = null;

  constructor(post: PostParts, end: () => void) {
    this.#post = post;
    this.#end = end;
  }

  /** Resolves once the thread has read them. Parts of shared memory are not copied on their way. */
  update(parts: readonly Bytes[]): Promise<void> {
    return this.#send(parts, false);
  }

  async digest(): Promise<Bytes> {
    await this.#send([], true);
    return this.#md5 as Bytes;
  }

  /** Only when all parts have been read. */
  abandon(): void {
    this.#post([], true);
    this.#end();
  }

  answered(md5: Uint8Array | null): void {
    if (md5 !== null) {
      this.#md5 = Buffer.from(md5);
      this.#end();
    }
    this.#waiting.shift()?.resolve();
  }

  fail(error: Error): void {
    this.#failure = error;
    this.#end();
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }

  #send(parts: readonly Bytes[], last: boolean): Promise<void> {
    if (this.#failure !== null) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#post(parts.map(sendable), last);
    });
  }
}

/** Only shared memory can be looked at from the other thread. */
function sendable(part: Bytes): Uint8Array {
  if (part.buffer instanceof SharedArrayBuffer) return part;
  const copy = new Uint8Array(new SharedArrayBuffer(part.length));
  copy.set(part);
  return copy;
}
