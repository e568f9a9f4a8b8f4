import type { Bytes } from "../base/bytes.ts";
import type { Reading } from "./contents.ts";

/** Bytes that are all at hand. */
export class WholeReading implements Reading {
  readonly whole: Bytes;
  readonly isSettled = true;

  constructor(bytes: Bytes) {
    this.whole = bytes;
  }

  get length(): number {
    return this.whole.length;
  }

  async *parts(): AsyncIterable<Bytes> {
    yield this.whole;
  }

  async fill(into: Bytes): Promise<void> {
    this.whole.copy(into);
  }

  close(): void {}
}

/** Takes all of it into memory, into `room` unless it is there already, and closes it. */
export async function readWhole(
  reading: Reading,
  room: (bytes: number) => Bytes = Buffer.allocUnsafe,
): Promise<Bytes> {
  try {
    if (reading.whole !== null) return reading.whole;
    const bytes = room(reading.length);
    await reading.fill(bytes);
    return bytes;
  } finally {
    reading.close();
  }
}
