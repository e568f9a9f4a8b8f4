import { hash } from "node:crypto";
import type { Bytes } from "../base/bytes.ts";
import {
  alignedBytes,
  alignedMemory,
  freeAlignedBytes,
  placeInAlignedMemory,
} from "./aligned-bytes.ts";
import { type FourPlaces, MD5_BLOCK_BYTES, MD5_STATE_BYTES, md5Blocks } from "./md5-blocks.ts";
import { MD5_INITIAL_STATE } from "./md5-lanes.ts";

const LANES = 4;
/** Shorter bodies are hashed alone: sharing lanes would not be faster. */
const BYTES_MIN = 512;
/** A body that comes this long after the last one does not wait: others are unlikely to follow. */
const ALONE_MS = 0.25;
/** Room for the bytes after the last whole block, the padding and the count of bits. */
const PADDED_BYTES = 2 * MD5_BLOCK_BYTES;
const COUNT_BYTES = 8;

interface Waiting {
  readonly bytes: Bytes;
  resolve(md5: Bytes): void;
}

/**
 * MD5 of small bodies that arrive in one iteration of the event loop, in batches of four. In a
 * batch each body takes half the time (see `Md5Blocks`). A body that comes alone does not wait.
 */
export class Md5Batches {
  #waiting: Waiting[] = [];
  #lastMs = Number.NEGATIVE_INFINITY;
  #lanes: FourLanes | null = null;

  /** The bytes must not change until the result is there. */
  md5(bytes: Bytes): Bytes | Promise<Bytes> {
    if (bytes.length < BYTES_MIN || placeInAlignedMemory(bytes) === null) return md5Of(bytes);
    const nowMs = performance.now();
    const isAlone = nowMs - this.#lastMs > ALONE_MS;
    this.#lastMs = nowMs;
    if (isAlone && this.#waiting.length === 0) return md5Of(bytes);
    return new Promise((resolve) => {
      this.#waiting.push({ bytes, resolve });
      if (this.#waiting.length === LANES) this.#hashBatch();
      else if (this.#waiting.length === 1) setImmediate(() => this.#hashBatch());
    });
  }

  #hashBatch(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    const [first, ...others] = waiting;
    if (first === undefined) return;
    if (others.length === 0) {
      first.resolve(md5Of(first.bytes));
      return;
    }
    this.#lanes ??= new FourLanes();
    const found = this.#lanes.md5Of(waiting.map(({ bytes }) => bytes));
    for (const [at, { resolve }] of waiting.entries()) resolve(found[at] as Bytes);
  }

  /** Frees the memory; later bodies take it again. */
  close(): void {
    this.#lanes?.free();
    this.#lanes = null;
  }
}

function md5Of(bytes: Bytes): Bytes {
  return hash("md5", bytes, "buffer");
}

const blocks = md5Blocks(alignedMemory);
const INITIAL_STATES = Buffer.concat(Array.from({ length: LANES }, () => MD5_INITIAL_STATE));
const STATES_BYTES = LANES * MD5_STATE_BYTES;

/** Working memory for the MD5 of up to four bodies at a time. */
export class FourLanes {
  readonly #memory = alignedBytes(STATES_BYTES + LANES * PADDED_BYTES);
  readonly #states = this.#memory.subarray(0, STATES_BYTES);
  readonly #padded = this.#memory.subarray(STATES_BYTES);
  readonly #stateAt = fourPlaces((lane) => this.#states.byteOffset + lane * MD5_STATE_BYTES);
  readonly #paddedAt = fourPlaces((lane) => this.#padded.byteOffset + lane * PADDED_BYTES);

  /** The MD5 of each of up to four bodies in aligned memory. */
  md5Of(bodies: readonly Bytes[]): Bytes[] {
    // A lane without a body repeats the work of the first one.
    const bodyOf = (lane: number) => (bodies[lane] ?? bodies[0]) as Bytes;
    const blocksOf = (lane: number) => Math.floor(bodyOf(lane).length / MD5_BLOCK_BYTES);
    const stateAt = this.#stateAt;
    this.#states.fill(INITIAL_STATES);
    const common = Math.min(blocksOf(0), blocksOf(1), blocksOf(2), blocksOf(3));
    blocks.four(
      stateAt,
      fourPlaces((lane) => bodyOf(lane).byteOffset),
      common,
    );
    const paddedBlocks = [0, 1, 2, 3].map((lane) => {
      const body = bodyOf(lane);
      const more = blocksOf(lane) - common;
      const from = common * MD5_BLOCK_BYTES;
      if (more > 0) blocks.one(stateAt[lane] as number, body.byteOffset + from, more);
      return padLastBlock(body, this.#padded, lane * PADDED_BYTES);
    });
    blocks.four(stateAt, this.#paddedAt, 1);
    for (const [lane, count] of paddedBlocks.entries()) {
      const second = (this.#paddedAt[lane] as number) + MD5_BLOCK_BYTES;
      if (count > 1) blocks.one(stateAt[lane] as number, second, 1);
    }
    return bodies.map((_, lane) => {
      const start = lane * MD5_STATE_BYTES;
      return Buffer.from(this.#states.subarray(start, start + MD5_STATE_BYTES));
    });
  }

  free(): void {
    freeAlignedBytes(this.#memory);
  }
}

/** Pads the bytes after the last whole block to one or two blocks; returns how many. */
function padLastBlock(body: Bytes, padded: Bytes, at: number): number {
  const length = body.length % MD5_BLOCK_BYTES;
  const count = length + 1 + COUNT_BYTES <= MD5_BLOCK_BYTES ? 1 : 2;
  const start = body.length - length;
  for (let index = 0; index < length; index++) padded[at + index] = body[start + index] as number;
  const end = at + count * MD5_BLOCK_BYTES;
  padded[at + length] = 0x80;
  for (let index = at + length + 1; index < end - COUNT_BYTES; index++) padded[index] = 0;
  padded.writeUInt32LE((body.length * 8) % 2 ** 32, end - COUNT_BYTES);
  padded.writeUInt32LE(Math.floor(body.length / 2 ** 29), end - COUNT_BYTES / 2);
  return count;
}

function fourPlaces(placeOf: (lane: number) => number): FourPlaces {
  return [placeOf(0), placeOf(1), placeOf(2), placeOf(3)];
}
