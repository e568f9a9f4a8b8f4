import { Worker } from "node:worker_threads";
import type { Bytes } from "../base/bytes.ts";

/** What the worker is asked: to read the next bytes of a body. */
export interface Sha256Asked {
  /** Tells bodies apart. */
  readonly body: number;
  readonly part: Uint8Array | null;
  /** Whether the body ends with this part. */
  readonly last: boolean;
}

interface Waiting {
  resolve(digest: string | null): void;
  reject(error: Error): void;
}

/**
 * SHA-256 on a worker thread. The bytes lie in aligned memory, which the thread reads where they
 * are, while others write them to the disk. It starts with the first body.
 */
export class Sha256Thread {
  #worker: Worker | null = null;
  #bodies = 0;
  /** The worker answers in the order of its messages. */
  readonly #waiting: Waiting[] = [];
  #failure: Error | null = null;

  begin(): Sha256Job {
    return new Sha256Job(++this.#bodies, (asked) => this.#ask(asked));
  }

  /** Ends the thread. Bodies that are not finished fail. */
  async close(): Promise<void> {
    this.#fail(new Error("the SHA-256 thread has ended"));
    await this.#worker?.terminate();
  }

  #ask(asked: Sha256Asked): Promise<string | null> {
    if (this.#failure !== null) return Promise.reject(this.#failure);
    this.#worker ??= this.#start();
    this.#worker.postMessage(asked);
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  #start(): Worker {
    const worker = new Worker(new URL("./sha256-worker.js", import.meta.url));
    worker.on("message", (digest: string | null) => this.#waiting.shift()?.resolve(digest));
    worker.on("error", (error) => this.#fail(error));
    return worker;
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }
}

/** The SHA-256 of one body. It ends with `digest` or `abandon`. */
export class Sha256Job {
  readonly #body: number;
  readonly #ask: (asked: Sha256Asked) => Promise<string | null>;

  constructor(body: number, ask: (asked: Sha256Asked) => Promise<string | null>) {
    this.#body = body;
    this.#ask = ask;
  }

  /** Resolves once the part, which lies in aligned memory, has been read. */
  async update(part: Bytes): Promise<void> {
    await this.#ask({ body: this.#body, part, last: false });
  }

  /** The digest in hexadecimal, with the last part. */
  async digest(part: Bytes): Promise<string> {
    return (await this.#ask({ body: this.#body, part, last: true })) as string;
  }

  abandon(): void {
    this.#ask({ body: this.#body, part: null, last: true }).catch(() => {});
  }
}
