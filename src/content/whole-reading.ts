import {
  type BorrowedBuffer,
  copyParts,
  eachBorrowed,
  WholeBuffer,
} from "../base/borrowed-buffer.ts";
import type { Bytes } from "../base/bytes.ts";
import type { Reading } from "../store/content.ts";

/** A reading whose bytes are all in memory. */
export class WholeReading implements Reading {
  readonly whole: Bytes;
  readonly isStable = true;
  readonly #owner: WholeBuffer;

  constructor(bytes: Bytes) {
    this.whole = bytes;
    this.#owner = new WholeBuffer([bytes]);
  }

  get length(): number {
    return this.whole.length;
  }

  borrow(): Promise<BorrowedBuffer | null> {
    return this.#owner.borrow();
  }

  isSameAs(other: Reading): boolean {
    return other.whole?.equals(this.whole) === true;
  }

  close(): void {}
}

/** Reads all bytes into memory, and closes the reading. */
export async function readWhole(reading: Reading): Promise<Bytes> {
  try {
    if (reading.whole !== null) return reading.whole;
    const bytes = Buffer.allocUnsafe(reading.length);
    let at = 0;
    await eachBorrowed(reading, (parts) => {
      at += copyParts(parts, bytes.subarray(at));
    });
    return bytes;
  } finally {
    reading.close();
  }
}
