import type { Bytes } from "../../base/bytes.ts";
import { KIB } from "../../base/limits.ts";
import { DropConnection } from "./drop-connection.ts";
import { takeFrame } from "./frame-memory.ts";

const PREFIX_BYTES = 4;
/** From this size on, a frame need not be received as a whole. */
const LARGE_BYTES_MIN = 128 * KIB;
/** By what is decided how a large frame is received: headers of all kinds fit in. */
const START_BYTES = 256;

/** Takes the parts of a large frame as they come, and may hold on to them. */
export interface LargeFrame {
  add(part: Bytes): void;
}

/**
 * Cuts a stream into frames: four bytes of length, the first of them zero, then the frame. A frame is
 * copied once, unless it is taken part by part.
 */
export class FrameReader<Large extends LargeFrame = never> {
  readonly #mayHold: (bytes: number) => boolean;
  readonly #begin: (start: Bytes, bytes: number) => Large | null;
  readonly #prefix = Buffer.alloc(PREFIX_BYTES);
  #prefixBytes = 0;
  /** Where a frame goes of which there is more to come: first its start, if it is large. */
  #frame: Bytes | null = null;
  #large: Large | null = null;
  /** How much of it has come. */
  #frameBytes = 0;
  /** Whether the present chunk is the one in which it began. */
  #isNew = false;

  /**
   * `mayHold` says whether a frame of this length may come now, `begin` what takes a large one that
   * begins like this; null if it is to be held as a whole.
   */
  constructor(
    mayHold: (bytes: number) => boolean,
    begin: (start: Bytes, bytes: number) => Large | null = () => null,
  ) {
    this.#mayHold = mayHold;
    this.#begin = begin;
  }

  /** The large frame that has begun and not ended. */
  get large(): Large | null {
    return this.#large;
  }

  /**
   * The frames that end in `chunk`. Nobody holds on to anything of it unless there was a large frame
   * before it came. Throws a `DropConnection`.
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
      // Another first byte than zero would make this longer than any frame.
      if (length === 0 || !this.#mayHold(length)) throw new DropConnection();
    }
    return rest.subarray(taken);
  }

  #takePart(rest: Bytes, length: number, frames: (Bytes | Large)[]): Bytes {
    const taken = this.#large === null ? this.#hold(rest, length) : this.#pass(rest, length);
    if (this.#frameBytes === length) {
      frames.push(this.#large ?? (this.#frame as Bytes));
      this.#frame = null;
      this.#large = null;
      this.#frameBytes = 0;
      this.#prefixBytes = 0;
    }
    return rest.subarray(taken);
  }

  #hold(rest: Bytes, length: number): number {
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
