import type { Bytes } from "../../../base/bytes.ts";
import { alignedTo, type Writer } from "../codec/wire.ts";
import { STATUS, StatusError } from "../nt-status.ts";

const TEXT_CHARS_MAX = 1_024;

/** Reads the values of a call in order. Throws a `StatusError` if they are truncated. */
export class NdrReader {
  readonly #bytes: Bytes;
  #at = 0;

  constructor(bytes: Bytes) {
    this.#bytes = bytes;
  }

  u32(): number {
    this.#at = alignedTo(this.#at, 4);
    return this.#take(4).readUInt32LE(0);
  }

  /** Reads a text after its lengths, without the NUL at its end. */
  text(): string {
    this.u32();
    const offset = this.u32();
    const chars = this.u32();
    if (offset !== 0 || chars > TEXT_CHARS_MAX) throw new StatusError(STATUS.INVALID_PARAMETER);
    return this.#take(chars * 2)
      .toString("utf16le")
      .replace(/\0$/, "");
  }

  /** Reads a text that may be absent. */
  textAtPointer(): string | null {
    return this.u32() === 0 ? null : this.text();
  }

  #take(count: number): Bytes {
    if (this.#at + count > this.#bytes.length) throw new StatusError(STATUS.INVALID_PARAMETER);
    const taken = this.#bytes.subarray(this.#at, this.#at + count);
    this.#at += count;
    return taken;
  }
}

export function writeNdrText(writer: Writer, text: string): void {
  const chars = text.length + 1;
  writer.u32(chars).u32(0).u32(chars).text(`${text}\0`).align(4);
}
