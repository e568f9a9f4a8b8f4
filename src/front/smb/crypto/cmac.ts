import { type Cipher, createCipheriv } from "node:crypto";
import { type Bytes, NO_BYTES } from "../../../base/bytes.ts";

const BLOCK_BYTES = 16;
const NO_IV = Buffer.alloc(BLOCK_BYTES);
/** The constant that is mixed in when a bit is shifted out of 128 bits. */
const CARRY = 0x87;

/** AES-128-CMAC (RFC 4493): the last block of AES-CBC, with a subkey mixed into the last input. */
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
    return this.begin().update(message).digest();
  }

  /** Begins the code of a message that arrives in parts. */
  begin(): Cmac {
    return new Cmac(this.#chain(), this.#wholeSubkey, this.#paddedSubkey);
  }

  #chain() {
    return createCipheriv("aes-128-cbc", this.#key, NO_IV).setAutoPadding(false);
  }
}

class Cmac {
  readonly #chain: Cipher;
  readonly #wholeSubkey: Bytes;
  readonly #paddedSubkey: Bytes;
  /** The possible last block, or a part of it. */
  #last: Bytes = NO_BYTES;

  constructor(chain: Cipher, wholeSubkey: Bytes, paddedSubkey: Bytes) {
    this.#chain = chain;
    this.#wholeSubkey = wholeSubkey;
    this.#paddedSubkey = paddedSubkey;
  }

  update(part: Bytes): this {
    const length = this.#last.length + part.length;
    if (length <= BLOCK_BYTES) {
      this.#last = Buffer.concat([this.#last, part]);
      return this;
    }
    const lastAt = part.length - (length % BLOCK_BYTES || BLOCK_BYTES);
    this.#chain.update(this.#last);
    this.#chain.update(part.subarray(0, lastAt));
    this.#last = Buffer.from(part.subarray(lastAt));
    return this;
  }

  digest(): Bytes {
    const { length } = this.#last;
    const block = Buffer.alloc(BLOCK_BYTES);
    this.#last.copy(block);
    if (length < BLOCK_BYTES) block[length] = 0x80;
    const subkey = length === BLOCK_BYTES ? this.#wholeSubkey : this.#paddedSubkey;
    for (let at = 0; at < BLOCK_BYTES; at++) {
      block[at] = (block[at] as number) ^ (subkey[at] as number);
    }
    return this.#chain.update(block);
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
