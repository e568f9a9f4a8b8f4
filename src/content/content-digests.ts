import { createHash } from "node:crypto";
import type { Bytes } from "../base/bytes.ts";
import { placeInAlignedMemory } from "../machine/aligned-bytes.ts";
import { crc64 } from "../machine/crc64.ts";
import type { Md5Thread } from "../machine/md5-thread.ts";
import type { Md5Together } from "../machine/md5-together.ts";
import type { Digests } from "../store/contents.ts";

/** From this size on, MD5 is worth its way to another thread. */
const THREAD_BYTES_MIN = 256 * 1024;

/** What was asked for, of the bytes of one body. */
export interface Computed {
  readonly md5: Bytes | null;
  readonly crc64: Bytes | null;
}

/** Of a small body. The bytes must stay as they are until it is done with them. */
export async function digestsOf(
  bytes: Bytes,
  asked: Digests,
  together: Md5Together,
): Promise<Computed> {
  const md5 = asked.md5 ? together.md5(bytes) : null;
  return { md5: await md5, crc64: asked.crc64 ? crc64(bytes) : null };
}

/** The MD5 of a body that comes bit by bit. It ends with its last byte, or with `abandon`. */
export class Md5UnderWay {
  readonly #thread: Md5Thread;
  #bytesAhead: number;
  #md5: Md5 | null = null;

  constructor(length: number, thread: Md5Thread) {
    this.#bytesAhead = length;
    this.#thread = thread;
  }

  /** The parts must stay as they are until it is done with them. */
  update(parts: readonly Bytes[]): void | Promise<void> {
    this.#md5 ??= beginMd5(this.#bytesAhead, parts, this.#thread);
    for (const part of parts) this.#bytesAhead -= part.length;
    return this.#md5.update(parts, this.#bytesAhead === 0);
  }

  /** Of a body that has been seen whole. */
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
  const canBeSeenThere = parts.every((part) => placeInAlignedMemory(part) !== null);
  if (length >= THREAD_BYTES_MIN && canBeSeenThere) return thread.begin();
  const hash = createHash("md5");
  return {
    update(parts) {
      for (const part of parts) hash.update(part);
    },
    digest: () => hash.digest(),
    abandon() {},
  };
}
