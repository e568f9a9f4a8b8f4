import { createHash } from "node:crypto";
import type { Bytes } from "../base/bytes.ts";
import { placeInAlignedMemory } from "../machine/aligned-bytes.ts";
import { crc64 } from "../machine/crc64.ts";
import type { Md5Batches } from "../machine/md5-batches.ts";
import type { Md5Thread } from "../machine/md5-thread.ts";
import type { Digests } from "../store/contents.ts";

/** Smaller bodies are hashed on this thread: they are not worth a message to another. */
const THREAD_BYTES_MIN = 256 * 1024;

/** The digests of a body; null for those that were not asked for. */
export interface Computed {
  readonly md5: Bytes | null;
  readonly crc64: Bytes | null;
}

/** Computes the digests of a small body. The bytes must not change until the promise resolves. */
export async function digestsOf(
  bytes: Bytes,
  asked: Digests,
  batches: Md5Batches,
): Promise<Computed> {
  const md5 = asked.md5 ? batches.md5(bytes) : null;
  return { md5: await md5, crc64: asked.crc64 ? crc64(bytes) : null };
}

/** The MD5 of a body that arrives in parts. It ends with the last byte, or with `abandon`. */
export class StreamingMd5 {
  readonly #thread: Md5Thread;
  #bytesAhead: number;
  #md5: Md5 | null = null;

  constructor(length: number, thread: Md5Thread) {
    this.#bytesAhead = length;
    this.#thread = thread;
  }

  /** The parts must not change until the promise, if there is one, resolves. */
  update(parts: readonly Bytes[]): void | Promise<void> {
    this.#md5 ??= beginMd5(this.#bytesAhead, parts, this.#thread);
    for (const part of parts) this.#bytesAhead -= part.length;
    return this.#md5.update(parts, this.#bytesAhead === 0);
  }

  /** The MD5, once the whole body has been seen; null if the body was empty. */
  finish(): Bytes | null {
    return this.#md5?.digest() ?? null;
  }

  abandon(): void {
    this.#md5?.abandon();
  }
}

interface Md5 {
  update(parts: readonly Bytes[], last: boolean): void | Promise<void>;
  digest(): Bytes;
  abandon(): void;
}

function beginMd5(length: number, parts: readonly Bytes[], thread: Md5Thread): Md5 {
  const isShared = parts.every((part) => placeInAlignedMemory(part) !== null);
  if (length >= THREAD_BYTES_MIN && isShared) return thread.begin();
  const hash = createHash("md5");
  return {
    update(parts) {
      for (const part of parts) hash.update(part);
    },
    digest: () => hash.digest(),
    abandon() {},
  };
}
