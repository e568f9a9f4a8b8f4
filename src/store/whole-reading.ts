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

  close(): void {}
}
