import { type Cipher, createCipheriv, createHash, type Hash, randomBytes } from "node:crypto";
import { type BorrowedBuffer, type BufferOwner, unowned } from "../base/borrowed-buffer.ts";
import type { Body, Bytes } from "../base/bytes.ts";
import { Crc64 } from "../machine/crc64.ts";
import type { ContentKey } from "../store/content.ts";
import type { Digests } from "../store/contents.ts";
import type { Computed } from "./content-digests.ts";

/**
 * Sealed bytes are encrypted with a key that only clients have: AES-256 in counter mode, so that a
 * reader can begin anywhere. Each sealed leaf has a random nonce, the first value of its counter.
 * Extents store and verify sealed bytes like any others.
 */
const NONCE_BYTES = 16;
const BLOCK_BYTES = 16;
const COUNTER_BITS = 128;

/** Encrypts a body while it is drained, and computes digests of the bytes as they came. */
export class SealedBody implements Body {
  readonly length: number;
  readonly nonce = randomBytes(NONCE_BYTES);
  readonly #body: Body;
  readonly #cipher: Cipher;
  readonly #md5: Hash | null;
  readonly #crc64: Crc64 | null;

  constructor(body: Body, key: ContentKey, asked: Digests) {
    this.length = body.length;
    this.#body = body;
    this.#cipher = cipherAt(key, this.nonce, 0);
    this.#md5 = asked.md5 ? createHash("md5") : null;
    this.#crc64 = asked.crc64 ? new Crc64() : null;
  }

  drain(take: (part: Bytes) => void | Promise<void>): Promise<void> {
    return this.#body.drain((part) => {
      this.#md5?.update(part);
      this.#crc64?.update(part);
      return take(this.#cipher.update(part));
    });
  }

  /** The digests, once the body is drained. */
  digests(): Computed {
    return { md5: this.#md5?.digest() ?? null, crc64: this.#crc64?.digest() ?? null };
  }
}

/** Where sealed bytes begin: the nonce of their leaf, and their offset in it. */
export interface Sealed {
  readonly nonce: Bytes;
  readonly offset: number;
}

/** Decrypts the bytes of an owner. */
export class UnsealedOwner implements BufferOwner {
  readonly #owner: BufferOwner;
  readonly #cipher: Cipher;

  constructor(owner: BufferOwner, key: ContentKey, { nonce, offset }: Sealed) {
    this.#owner = owner;
    this.#cipher = cipherAt(key, nonce, offset);
  }

  async borrow(bytes: number): Promise<BorrowedBuffer | null> {
    const borrowed = await this.#owner.borrow(bytes);
    if (borrowed === null) return null;
    try {
      return unowned(borrowed.parts.map((part) => this.#cipher.update(part)));
    } finally {
      borrowed.release();
    }
  }
}

/** In counter mode, encrypting and decrypting are the same. */
function cipherAt(key: ContentKey, nonce: Bytes, offset: number): Cipher {
  const first = BigInt(`0x${nonce.toString("hex")}`);
  const skipped = offset % BLOCK_BYTES;
  const counter = BigInt.asUintN(COUNTER_BITS, first + BigInt((offset - skipped) / BLOCK_BYTES));
  const iv = Buffer.from(counter.toString(16).padStart(2 * NONCE_BYTES, "0"), "hex");
  const cipher = createCipheriv("aes-256-ctr", key, iv);
  if (skipped > 0) cipher.update(Buffer.alloc(skipped));
  return cipher;
}
