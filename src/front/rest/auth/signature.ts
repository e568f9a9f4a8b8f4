import { hash, timingSafeEqual } from "node:crypto";
import type { Bytes } from "../../../base/bytes.ts";

const BLOCK_BYTES = 64;
const INNER_PAD = 0x36;
const OUTER_PAD = 0x5c;
/** The length of a MAC in Base64. */
const MAC_CHARS = 44;
const ROOM_BYTES = 4_096;

/**
 * A key for HMAC-SHA-256. Two hashes with the key's padding cost half of Node's own Hmac, and every
 * request needs one. Private fields keep the key out of printed objects.
 */
export class MacKey {
  /** The inner padding, with room for a text after it. */
  readonly #inner: Bytes;
  /** The outer padding, with room for a hash after it. */
  readonly #outer: Bytes;

  constructor(key: Bytes) {
    const block = Buffer.alloc(BLOCK_BYTES);
    (key.length > BLOCK_BYTES ? hash("sha256", key, "buffer") : key).copy(block);
    this.#inner = Buffer.alloc(BLOCK_BYTES + ROOM_BYTES);
    this.#outer = Buffer.alloc(BLOCK_BYTES + 32);
    for (let at = 0; at < BLOCK_BYTES; at++) {
      const value = block[at] as number;
      this.#inner[at] = value ^ INNER_PAD;
      this.#outer[at] = value ^ OUTER_PAD;
    }
  }

  /** Returns the MAC in Base64. */
  mac(text: string): string {
    // Returning a string from `hash` is cheaper than a buffer.
    this.#outer.write(hash("sha256", this.#padded(text), "binary"), BLOCK_BYTES, "latin1");
    return hash("sha256", this.#outer, "base64");
  }

  #padded(text: string): Bytes {
    // A UTF-16 unit takes at most three bytes in UTF-8.
    if (text.length * 3 <= ROOM_BYTES) {
      return this.#inner.subarray(0, BLOCK_BYTES + this.#inner.write(text, BLOCK_BYTES, "utf8"));
    }
    return Buffer.concat([this.#inner.subarray(0, BLOCK_BYTES), Buffer.from(text, "utf8")]);
  }
}

/** Whether one of the keys makes this MAC from the text. Compares in constant time. */
export function isSigned(base64: string, text: string, keys: readonly MacKey[]): boolean {
  if (base64.length !== MAC_CHARS) return false;
  const given = Buffer.from(base64, "latin1");
  for (const key of keys) {
    if (timingSafeEqual(Buffer.from(key.mac(text), "latin1"), given)) return true;
  }
  return false;
}
