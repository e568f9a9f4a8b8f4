import { hash } from "node:crypto";
import type { Bytes } from "../base/bytes.ts";
import { alignedBytes, alignedMemory, placeInAlignedMemory } from "./aligned-bytes.ts";
import { type FourPlaces, MD5_BLOCK_BYTES, MD5_STATE_BYTES, md5Blocks } from "./md5-blocks.ts";
import { MD5_STATE_AT_FIRST } from "./md5-lanes.ts";

const LANES = 4;
/** For less it is not worth it. */
const BYTES_MIN = 512;
/** Whoever comes later than this behind the last one is not likely to be followed soon, either. */
const ALONE_MS = 0.25;
/** What is behind the last whole block, and the count of bits. */
const TAIL_BYTES = 2 * MD5_BLOCK_BYTES;
const COUNT_BYTES = 8;

interface Waiting {
  readonly bytes: Bytes;
  resolve(md5: Bytes): void;
}

/**
 * MD5 of small bodies that come in one turn of the event loop, four at once: each of them takes half
 * the time (see `Md5Blocks`). One that comes alone does not wait.
 */
export class Md5Together {
  #waiting: Waiting[] = [];
  #lastMs = Number.NEGATIVE_INFINITY;

  /** The bytes must stay as they are until it is done with them. */
  md5(bytes: Bytes): Bytes | Promise<Bytes> {
    if (bytes.length < BYTES_MIN || placeInAlignedMemory(bytes) === null) return md5Of(bytes);
    const nowMs = performance.now();
    const isAlone = nowMs - this.#lastMs > ALONE_MS;
    this.#lastMs = nowMs;
    if (isAlone && this.#waiting.length === 0) return md5Of(bytes);
    return new Promise((resolve) => {
      this.#waiting.push({ bytes, resolve });
      if (this.#waiting.length === LANES) this.#go();
      else if (this.#waiting.length === 1) setImmediate(() => this.#go());
    });
  }

  #go(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    const [first, ...others] = waiting;
    if (first === undefined) return;
    if (others.length === 0) {
      first.resolve(md5Of(first.bytes));
      return;
    }
    const found = md5OfFour(waiting.map(({ bytes }) => bytes));
    for (const [at, { resolve }] of waiting.entries()) resolve(found[at] as Bytes);
  }
}

function md5Of(bytes: Bytes): Bytes {
  return hash("md5", bytes, "buffer");
}

const blocks = md5Blocks(alignedMemory);
const states = alignedBytes(LANES * MD5_STATE_BYTES);
const tails = alignedBytes(LANES * TAIL_BYTES);
const statesAtFirst = Buffer.concat(Array.from({ length: LANES }, () => MD5_STATE_AT_FIRST));
const stateAt = fourPlaces((lane) => states.byteOffset + lane * MD5_STATE_BYTES);
const tailAt = fourPlaces((lane) => tails.byteOffset + lane * TAIL_BYTES);

/** Of up to four bodies in aligned memory. */
export function md5OfFour(bodies: readonly Bytes[]): Bytes[] {
  // A lane without a body does once more what the first one does.
  const bodyOf = (lane: number) => (bodies[lane] ?? bodies[0]) as Bytes;
  const blocksOf = (lane: number) => Math.floor(bodyOf(lane).length / MD5_BLOCK_BYTES);
  states.fill(statesAtFirst);
  const common = Math.min(blocksOf(0), blocksOf(1), blocksOf(2), blocksOf(3));
  blocks.four(
    stateAt,
    fourPlaces((lane) => bodyOf(lane).byteOffset),
    common,
  );
  const inTail = [0, 1, 2, 3].map((lane) => {
    const body = bodyOf(lane);
    const more = blocksOf(lane) - common;
    const from = common * MD5_BLOCK_BYTES;
    if (more > 0) blocks.one(stateAt[lane] as number, body.byteOffset + from, more);
    return layTail(body, lane * TAIL_BYTES);
  });
  blocks.four(stateAt, tailAt, 1);
  for (const [lane, count] of inTail.entries()) {
    const second = (tailAt[lane] as number) + MD5_BLOCK_BYTES;
    if (count > 1) blocks.one(stateAt[lane] as number, second, 1);
  }
  return bodies.map((_, lane) => {
    const start = lane * MD5_STATE_BYTES;
    return Buffer.from(states.subarray(start, start + MD5_STATE_BYTES));
  });
}

/** A bit behind the last byte, and at the end of a block how many bits there were. Tells the blocks. */
function layTail(body: Bytes, at: number): number {
  const length = body.length % MD5_BLOCK_BYTES;
  const count = length + 1 + COUNT_BYTES <= MD5_BLOCK_BYTES ? 1 : 2;
  const start = body.length - length;
  for (let index = 0; index < length; index++) tails[at + index] = body[start + index] as number;
  const end = at + count * MD5_BLOCK_BYTES;
  tails[at + length] = 0x80;
  for (let index = at + length + 1; index < end - COUNT_BYTES; index++) tails[index] = 0;
  tails.writeUInt32LE((body.length * 8) % 2 ** 32, end - COUNT_BYTES);
  tails.writeUInt32LE(Math.floor(body.length / 2 ** 29), end - COUNT_BYTES / 2);
  return count;
}

function fourPlaces(placeOf: (lane: number) => number): FourPlaces {
  return [placeOf(0), placeOf(1), placeOf(2), placeOf(3)];
}
