import type { Bytes } from "../../base/bytes.ts";

/** Begins each frame, as a number in little-endian. */
export const ZSTD_MAGIC = 0xfd2fb528;
const SKIPPABLE_MAGIC = 0x184d2a50;
const DICTIONARY_ID_BYTES = [0, 1, 2, 4] as const;
const CONTENT_SIZE_BYTES = [0, 2, 4, 8] as const;
/** A block that repeats one byte. */
const REPEATED = 1;

/** Bytes to read for their meaning, or to pass over. */
type Step = { readonly take: number } | { readonly skip: number };

/**
 * The bytes of a file of zstd in pieces that end where frames end (RFC 8878). Node drops what
 * follows the end of a frame within a piece, and takes a file that is cut short for a whole one.
 */
export async function* zstdFrames(from: AsyncIterable<Bytes>): AsyncGenerator<Bytes> {
  let walk: FrameWalk | null = null;
  for await (const piece of from) {
    let start = 0;
    while (start < piece.length) {
      walk ??= new FrameWalk();
      const end = walk.advance(piece, start);
      yield piece.subarray(start, end);
      if (walk.isOver) walk = null;
      start = end;
    }
  }
  if (walk !== null) throw new Error("unexpected end of file");
}

/** Finds the end of one frame by the lengths in its headers. */
class FrameWalk {
  readonly #steps = frameSteps();
  #step: IteratorResult<Step, void> = this.#steps.next();
  /** What was read of the current step. */
  #taken: Bytes = Buffer.alloc(0);
  #skipped = 0;

  get isOver(): boolean {
    return this.#step.done === true;
  }

  /** Where the frame ends in this piece, or the piece does. */
  advance(piece: Bytes, start: number): number {
    let at = start;
    while (this.#step.done !== true) {
      const step = this.#step.value;
      const wanted = "take" in step ? step.take - this.#taken.length : step.skip - this.#skipped;
      const got = Math.min(wanted, piece.length - at);
      if ("take" in step) this.#taken = Buffer.concat([this.#taken, piece.subarray(at, at + got)]);
      else this.#skipped += got;
      at += got;
      if (got < wanted) return at;
      this.#step = this.#steps.next(this.#taken);
      this.#taken = Buffer.alloc(0);
      this.#skipped = 0;
    }
    return at;
  }
}

function* frameSteps(): Generator<Step, void, Bytes> {
  const magic = (yield { take: 4 }).readUInt32LE(0);
  if ((magic & 0xffff_fff0) >>> 0 === SKIPPABLE_MAGIC) {
    yield { skip: (yield { take: 4 }).readUInt32LE(0) };
    return;
  }
  if (magic !== ZSTD_MAGIC) throw new Error("not a frame of zstd");
  const descriptor = (yield { take: 1 }).readUInt8(0);
  const isSingle = (descriptor & 0x20) !== 0;
  const dictionary = DICTIONARY_ID_BYTES[descriptor & 3] ?? 0;
  const size = CONTENT_SIZE_BYTES[descriptor >> 6] ?? 0;
  yield { skip: dictionary + (isSingle ? size || 1 : size + 1) };
  let isLast = false;
  while (!isLast) {
    const header = (yield { take: 3 }).readUIntLE(0, 3);
    isLast = (header & 1) !== 0;
    yield { skip: ((header >> 1) & 3) === REPEATED ? 1 : header >> 3 };
  }
  if ((descriptor & 4) !== 0) yield { skip: 4 };
}
