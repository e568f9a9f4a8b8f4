import { type Bytes, NO_BYTES } from "../../../base/bytes.ts";

const LF = 0x0a;
const CR = 0x0d;

/**
 * Bytes that a connection has received and nobody has taken yet.
 *
 * Whose buffer is this, and until when:
 *
 * 1. A socket reads into memory of `ReadMemory`. A chunk is ours until the call that brings it
 *    returns; then the next read overwrites it.
 * 2. A chunk that begins a request, in memory that no other connection reads into, is borrowed: it
 *    stays where it is, uncopied, until the exchange is over (`borrow`, `endBorrowing`).
 * 3. Everything else that has to wait is copied (`add`).
 * 4. What is taken from here lies in the borrowed memory or in a copy, and so is valid until the
 *    exchange is over. Whoever needs bytes for longer copies them.
 * 5. Parts of a body that come later do not pass through here: each belongs to the body's taker
 *    until the promise that it returned resolves (`Receiver.take`).
 */
export class ReceivedBytes {
  #bytes = NO_BYTES;
  /** The borrowed memory that `#bytes` lies in; null if it is a copy. */
  #borrowed: Bytes | null = null;
  /** Resolves the promise that `borrow` returned. */
  #release: () => void = () => {};

  get length(): number {
    return this.#bytes.length;
  }

  /** The bytes as text, one character for each; not valid beyond `length`. */
  text(end: number): string {
    return this.#bytes.toString("latin1", 0, end);
  }

  indexOf(text: string, from: number): number {
    return this.#bytes.indexOf(text, from, "latin1");
  }

  /** Appends a copy of `chunk`. */
  add(chunk: Bytes): void {
    this.#bytes =
      this.#bytes.length === 0 ? Buffer.from(chunk) : Buffer.concat([this.#bytes, chunk]);
  }

  /** Begins with `chunk` itself, which lies in `memory`. Only if there are no other bytes. */
  borrow(chunk: Bytes, memory: Bytes): void {
    this.#bytes = chunk;
    this.#borrowed = memory;
  }

  /** Resolves when the borrowed memory is free again; null if it is already free. */
  untilReleased(): Promise<void> | null {
    if (this.#borrowed === null) return null;
    return new Promise((resolve) => {
      this.#release = resolve;
    });
  }

  /** Releases the borrowed memory. Copies the bytes that were not taken yet. */
  endBorrowing(): void {
    if (this.#borrowed === null) return;
    this.#borrowed = null;
    this.#bytes = copied(this.#bytes);
    this.#release();
    this.#release = () => {};
  }

  /** Takes all bytes, but no more than `bytesMax`. */
  take(bytesMax: number): Bytes {
    const taken = this.#bytes.subarray(0, bytesMax);
    this.#bytes = this.#bytes.subarray(taken.length);
    return taken;
  }

  /** Takes all that is here, and `room` bytes of the borrowed memory behind it; null if none. */
  takeWithRoom(room: number): Bytes | null {
    if (this.#borrowed === null) return null;
    const at = this.#bytes.byteOffset - this.#borrowed.byteOffset;
    const end = at + this.#bytes.length + room;
    if (end > this.#borrowed.length) return null;
    this.#bytes = NO_BYTES;
    return this.#borrowed.subarray(at, end);
  }

  /** Some clients send a blank line behind a body. */
  skipBlankLines(): void {
    let start = 0;
    while (this.#bytes[start] === CR || this.#bytes[start] === LF) start++;
    if (start > 0) this.#bytes = this.#bytes.subarray(start);
  }

  /** Replaces all bytes by a copy of `bytes`. */
  reset(bytes: Bytes): void {
    this.#bytes = copied(bytes);
  }
}

function copied(bytes: Bytes): Bytes {
  return bytes.length === 0 ? NO_BYTES : Buffer.from(bytes);
}
