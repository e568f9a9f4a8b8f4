import type { Bytes } from "../../base/bytes.ts";
import { freeMemory } from "../../base/free-memory.ts";
import { DropConnection } from "./drop-connection.ts";
import { takeFrame } from "./frame-memory.ts";

const PREFIX_BYTES = 4;

/**
 * Cuts a stream into frames: four bytes of length, the first of them zero, then the frame. A frame
 * that comes in one piece is not copied, any other is copied once.
 */
export class FrameReader {
  readonly #mayHold: (bytes: number) => boolean;
  readonly #prefix = Buffer.alloc(PREFIX_BYTES);
  #prefixBytes = 0;
  #frame: Bytes | null = null;
  #frameBytes = 0;

  /** `mayHold` says whether a frame of this length may come now. */
  constructor(mayHold: (bytes: number) => boolean) {
    this.#mayHold = mayHold;
  }

  /** The frames that end in `chunk`, which is taken over. Throws a `DropConnection`. */
  take(chunk: Bytes): Bytes[] {
    const frames: Bytes[] = [];
    let isCopied = true;
    for (let rest = chunk; rest.length > 0; ) {
      if (this.#frame === null && !this.#isPrefixed()) {
        rest = this.#takePrefix(rest);
        continue;
      }
      const length = this.#prefix.readUInt32BE(0);
      if (this.#frame === null && rest.length >= length) {
        frames.push(rest.subarray(0, length));
        rest = rest.subarray(length);
        this.#prefixBytes = 0;
        isCopied = false;
      } else {
        rest = this.#takePart(rest, length, frames);
      }
    }
    if (isCopied) freeMemory(chunk);
    return frames;
  }

  #isPrefixed(): boolean {
    return this.#prefixBytes === PREFIX_BYTES;
  }

  #takePrefix(rest: Bytes): Bytes {
    const taken = rest.copy(this.#prefix, this.#prefixBytes, 0, PREFIX_BYTES - this.#prefixBytes);
    this.#prefixBytes += taken;
    if (this.#isPrefixed()) {
      const length = this.#prefix.readUInt32BE(0);
      // Another first byte than zero would make this longer than any frame.
      if (length === 0 || !this.#mayHold(length)) throw new DropConnection();
    }
    return rest.subarray(taken);
  }

  #takePart(rest: Bytes, length: number, frames: Bytes[]): Bytes {
    this.#frame ??= takeFrame(length);
    const taken = rest.copy(this.#frame, this.#frameBytes);
    this.#frameBytes += taken;
    if (this.#frameBytes === length) {
      frames.push(this.#frame);
      this.#frame = null;
      this.#frameBytes = 0;
      this.#prefixBytes = 0;
    }
    return rest.subarray(taken);
  }
}
