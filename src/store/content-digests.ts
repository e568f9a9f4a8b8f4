import { createHash, hash } from "node:crypto";
import type { Body, Bytes } from "../base/bytes.ts";
import { Crc64, crc64 } from "../base/crc64.ts";
import type { Digests } from "./contents.ts";
import type { Md5Thread } from "./md5-thread.ts";

/** From this size on, MD5 is worth its way to another thread. */
const THREAD_BYTES_MIN = 4 * 1024 * 1024;

/** What was asked for, of the bytes of one body. */
export interface Computed {
  readonly md5: Bytes | null;
  readonly crc64: Bytes | null;
}

export function digestsOf(bytes: Bytes, asked: Digests): Computed {
  return {
    md5: asked.md5 ? hash("md5", bytes, "buffer") : null,
    crc64: asked.crc64 ? crc64(bytes) : null,
  };
}

/** A body that computes digests of itself while somebody takes it. */
export class DigestedBody implements Body {
  readonly length: number;
  readonly #body: Body;
  readonly #asked: Digests;
  readonly #thread: Md5Thread;
  #computed: Promise<Computed> | null = null;

  constructor(body: Body, asked: Digests, thread: Md5Thread) {
    this.length = body.length;
    this.#body = body;
    this.#asked = asked;
    this.#thread = thread;
  }

  async drain(take: (part: Bytes) => void | Promise<void>): Promise<void> {
    const md5 = this.#asked.md5 ? beginMd5(this.length, this.#thread) : null;
    const crc64 = this.#asked.crc64 ? new Crc64() : null;
    try {
      await this.#body.drain((part) => {
        crc64?.update(part);
        const late = md5?.update(part);
        return late === undefined ? take(part) : late.then(() => take(part));
      });
    } catch (error) {
      md5?.abandon();
      throw error;
    }
    // Not waited for here: the taker has something to finish, too.
    this.#computed = finish(md5, crc64);
    this.#computed.catch(() => {});
  }

  computed(): Promise<Computed> {
    return this.#computed ?? Promise.reject(new Error("the body has not been taken"));
  }
}

async function finish(md5: Md5 | null, crc64: Crc64 | null): Promise<Computed> {
  return { md5: (await md5?.digest()) ?? null, crc64: crc64?.digest() ?? null };
}

interface Md5 {
  update(part: Bytes): void | Promise<void>;
  digest(): Bytes | Promise<Bytes>;
  abandon(): void;
}

function beginMd5(length: number, thread: Md5Thread): Md5 {
  const job = length >= THREAD_BYTES_MIN ? thread.begin() : null;
  if (job !== null) return job;
  const hash = createHash("md5");
  return {
    update(part) {
      hash.update(part);
    },
    digest: () => hash.digest(),
    abandon() {},
  };
}
