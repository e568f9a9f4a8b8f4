import { createHash, hash } from "node:crypto";
import type { Bytes } from "../base/bytes.ts";
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

/** Digests of a body that comes bit by bit. They end with `finish` or `abandon`. */
export class DigestsUnderWay {
  readonly #md5: Md5 | null;
  readonly #crc64: Crc64 | null;

  constructor(length: number, asked: Digests, thread: Md5Thread) {
    this.#md5 = asked.md5 ? beginMd5(length, thread) : null;
    this.#crc64 = asked.crc64 ? new Crc64() : null;
  }

  /** The parts must stay as they are until it is done with them. */
  update(parts: readonly Bytes[]): void | Promise<void> {
    const late = this.#md5?.update(parts);
    if (this.#crc64 !== null) for (const part of parts) this.#crc64.update(part);
    return late;
  }

  finish(): Computed | Promise<Computed> {
    const md5 = this.#md5?.digest() ?? null;
    const crc64 = this.#crc64?.digest() ?? null;
    return md5 instanceof Promise ? md5.then((late) => ({ md5: late, crc64 })) : { md5, crc64 };
  }

  abandon(): void {
    this.#md5?.abandon();
  }
}

interface Md5 {
  update(parts: readonly Bytes[]): void | Promise<void>;
  digest(): Bytes | Promise<Bytes>;
  abandon(): void;
}

function beginMd5(length: number, thread: Md5Thread): Md5 {
  const job = length >= THREAD_BYTES_MIN ? thread.begin() : null;
  if (job !== null) return job;
  const hash = createHash("md5");
  return {
    update(parts) {
      for (const part of parts) hash.update(part);
    },
    digest: () => hash.digest(),
    abandon() {},
  };
}
