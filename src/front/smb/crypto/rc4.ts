import type { Bytes } from "../../../base/bytes.ts";

/** RC4, the stream cipher of NTLM's key exchange, which OpenSSL no longer offers. */
export class Rc4 {
  readonly #state = Uint8Array.from({ length: 256 }, (_, index) => index);
  #i = 0;
  #j = 0;

  constructor(key: Bytes) {
    for (let i = 0, j = 0; i < 256; i++) {
      j = (j + this.#at(i) + (key[i % key.length] as number)) & 0xff;
      this.#swap(i, j);
    }
  }

  /** Encrypts or decrypts the next bytes of the stream. */
  apply(bytes: Bytes): Bytes {
    const result = Buffer.alloc(bytes.length);
    for (let index = 0; index < bytes.length; index++) {
      this.#i = (this.#i + 1) & 0xff;
      this.#j = (this.#j + this.#at(this.#i)) & 0xff;
      this.#swap(this.#i, this.#j);
      const key = this.#at((this.#at(this.#i) + this.#at(this.#j)) & 0xff);
      result[index] = (bytes[index] as number) ^ key;
    }
    return result;
  }

  #at(index: number): number {
    return this.#state[index] as number;
  }

  #swap(i: number, j: number): void {
    const swapped = this.#at(i);
    this.#state[i] = this.#at(j);
    this.#state[j] = swapped;
  }
}
