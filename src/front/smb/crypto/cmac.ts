import { createCipheriv } from "node:crypto";
import type { Bytes } from "../../../base/bytes.ts";

const BLOCK_BYTES = 16;
const NO_IV = Buffer.alloc(BLOCK_BYTES);
/** What is carried over when 128 bits are shifted out to the left. */
const CARRY = 0x87;

/** AES-128-CMAC (RFC 4493): the last block of AES-CBC, after one that a subkey is mixed into. */
export class CmacKey {
  readonly #key: Bytes;
  readonly #wholeSubkey: Bytes;
  readonly #paddedSubkey: Bytes;

  constructor(key: Bytes) {
    this.#key = key;
    this.#wholeSubkey = doubled(this.#chain().update(NO_IV));
    this.#paddedSubkey = doubled(this.#wholeSubkey);
  }

  mac(message: Bytes): Bytes {
    const blocks = Math.max(1, Math.ceil(message.length / BLOCK_BYTES));
    const lastAt = (blocks - 1) * BLOCK_BYTES;
    const isWhole = message.length === blocks * BLOCK_BYTES;
    const last = Buffer.alloc(BLOCK_BYTES);
    message.copy(last, 0, lastAt);
    if (!isWhole) last[message.length - lastAt] = 0x80;
    const subkey = isWhole ? this.#wholeSubkey : this.#paddedSubkey;
    for (let at = 0; at < BLOCK_BYTES; at++)
      last[at] = (last[at] as number) ^ (subkey[at] as number);
    const chain = this.#chain();
    if (lastAt > 0) chain.update(message.subarray(0, lastAt));
    return chain.update(last);
  }

  #chain() {
    return createCipheriv("aes-128-cbc", this.#key, NO_IV).setAutoPadding(false);
  }
}

function doubled(block: Bytes): Bytes {
  const result = Buffer.alloc(BLOCK_BYTES);
  for (let at = 0; at < BLOCK_BYTES; at++) {
    result[at] = ((block[at] as number) << 1) | ((block[at + 1] ?? 0) >> 7);
  }
  if ((block[0] as number) & 0x80) {
    result[BLOCK_BYTES - 1] = (result[BLOCK_BYTES - 1] as number) ^ CARRY;
  }
  return result;
}
