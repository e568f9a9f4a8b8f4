import type { Bytes } from "../../base/bytes.ts";
import { KIB } from "../../base/limits.ts";
import { DropConnection } from "./drop-connection.ts";
import { takeFrame } from "./frame-memory.ts";

const PREFIX_BYTES = 4;
/** From this size on, a frame may be received part by part. */
const LARGE_BYTES_MIN = 128 * KIB;
/** The start that decides how a large frame is received: headers of all kinds fit into it. */
const START_BYTES = 256;

/** Takes the parts of a large frame as they arrive, and may retain them. */
export interface LargeFrame {
  add(part: Bytes): void;
}

/**
 * Splits a stream into frames: four bytes of length, the first of them zero, then the frame. A
 * frame is copied once, unless it is received part by part.
 */
export class FrameReader<Large extends LargeFrame = never> {
  readonly #isAllowed: (bytes: number) => boolean;
  readonly #begin: (start: Bytes, bytes: number) => Large | null;
  readonly #prefix = Buffer.alloc(PREFIX_BYTES);
  #prefixBytes = 0;
  /** Memory for an incomplete frame; if it is large, first only for its start. */
  #frame: Bytes | null = null;
  #large: Large | null = null;
  /** The bytes of it that have arrived. */
  #frameBytes = 0;
  /** Whether it began in the current chunk. */
  #isNew = false;

  /**
   * `isAllowed` decides whether a frame of this length is allowed now. `begin` returns the receiver
   * of a large frame with this start; null if it must be received as a whole.
   */
  constructor(
    isAllowed: (bytes: number) => boolean,
    begin: (start: Bytes, bytes: number) => Large | null = () => null,
  ) {
    this.#isAllowed = isAllowed;
    this.#begin = begin;
  }

  /** The large frame that is being received. */
  get large(): Large | null {
    return this.#large;
  }

  /**
   * Returns the frames that end in `chunk`. Retains nothing of the chunk unless a large frame was
   * being received before it. Throws a `DropConnection`.
   */
  take(chunk: Bytes): (Bytes | Large)[] {
    const frames: (Bytes | Large)[] = [];
    this.#isNew = false;
    for (let rest = chunk; rest.length > 0; ) {
      if (this.#prefixBytes < PREFIX_BYTES) {
        rest = this.#takePrefix(rest);
        continue;
      }
      const length = this.#prefix.readUInt32BE(0);
      if (this.#frameBytes === 0 && rest.length >= length) {
        frames.push(Buffer.from(rest.subarray(0, length)));
        rest = rest.subarray(length);
        this.#prefixBytes = 0;
      } else {
        rest = this.#takePart(rest, length, frames);
      }
    }
    return frames;
  }

  #takePrefix(rest: Bytes): Bytes {
    const taken = rest.copy(this.#prefix, this.#prefixBytes, 0, PREFIX_BYTES - this.#prefixBytes);
    this.#prefixBytes += taken;
    if (this.#prefixBytes === PREFIX_BYTES) {
      const length = this.#prefix.readUInt32BE(0);
      // With a first byte other than zero this would be longer than any frame.
      if (length === 0 || !this.#isAllowed(length)) throw new DropConnection();
    }
    return rest.subarray(taken);
  }

  #takePart(rest: Bytes, length: number, frames: (Bytes | Large)[]): Bytes {
    const taken = this.#large === null ? this.#gather(rest, length) : this.#pass(rest, length);
    if (this.#frameBytes === length) {
      frames.push(this.#large ?? (this.#frame as Bytes));
      this.#frame = null;
      this.#large = null;
      this.#frameBytes = 0;
      this.#prefixBytes = 0;
    }
    return rest.subarray(taken);
  }

  #gather(rest: Bytes, length: number): number {
    const isStart = length >= LARGE_BYTES_MIN && this.#frameBytes < START_BYTES;
    this.#frame ??= isStart ? Buffer.allocUnsafe(START_BYTES) : takeFrame(length);
    const taken = rest.copy(this.#frame, this.#frameBytes);
    this.#frameBytes += taken;
    if (isStart && this.#frameBytes === START_BYTES) this.#decide(this.#frame, length);
    return taken;
  }

  #decide(start: Bytes, length: number): void {
    this.#large = this.#begin(start, length);
    this.#isNew = true;
    this.#frame = this.#large === null ? takeFrame(length) : null;
    if (this.#frame !== null) start.copy(this.#frame);
  }

  #pass(rest: Bytes, length: number): number {
    const part = rest.subarray(0, length - this.#frameBytes);
    this.#frameBytes += part.length;
    this.#large?.add(this.#isNew ? Buffer.from(part) : part);
    return part.length;
  }
}
