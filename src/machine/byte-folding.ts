import type { Bytes } from "../base/bytes.ts";
import { KIB } from "../base/limits.ts";
import { alignedMemory, placeInAlignedMemory } from "./aligned-bytes.ts";
import { clearMemory, zeroedBytes } from "./clear-memory.ts";
import {
  type Code,
  compile,
  get,
  I32,
  I32_ADD,
  I32_LT_U,
  i32,
  loadVector,
  set,
  storeVector,
  V128_XOR,
  whileTrue,
} from "./wasm-code.ts";

const VECTOR_BYTES = 16;
/** Vectors that one iteration of the loop adds up. */
const UNROLLED = 4;
const ITERATION_BYTES = UNROLLED * VECTOR_BYTES;
/** Bytes that one call of `fold` takes at most. */
const BLOCK_BYTES_MAX = 64 * KIB;

// The function's parameters.
const AT = 0;
const UNTIL = 1;
const BEFORE = 2;
const TO = 3;

/**
 * Adds to each vector from `at` to `until` the bytes of the quotient that lie at certain distances
 * before it, and writes the result to `to`. `before` is the start of the quotient's window.
 */
type Fold = (at: number, until: number, before: number, to: number) => void;

/**
 * Reduces many bytes to few that have the same CRC. A CRC is the remainder of a division by a
 * polynomial, so the remainder of a division by any multiple of that polynomial has the same CRC.
 * This class divides by a multiple with few terms: a byte of the quotient is the sum of a byte of
 * the input and of some earlier bytes of the quotient, one per term, so that no table is needed.
 * Modulo 2, the eighth power of a polynomial in x is the same polynomial in x to the eighth, so its
 * exponents count bytes as well as bits. Unaligned vectors cost less than more terms, or memory
 * outside the cache.
 */
export class ByteFolding {
  /** The place of a block's remainder in aligned memory. */
  readonly restAt: number;
  readonly restUntil: number;
  readonly #restBytes: number;
  readonly #quotient: Bytes;
  readonly #beforeAt: number;
  /** The offset of the farthest byte that is added to the first one. */
  readonly #stateAt: number;
  readonly #fold: Fold;

  /** `exponents` of the multiple's terms, the highest first, and 0 last. */
  constructor(exponents: readonly number[]) {
    const degree = exponents[0] as number;
    // Whole iterations: a remainder longer than the degree is valid, too.
    this.#restBytes = Math.ceil(degree / ITERATION_BYTES) * ITERATION_BYTES;
    this.restAt = placeInAlignedMemory(zeroedBytes(this.#restBytes)) as number;
    this.restUntil = this.restAt + this.#restBytes;
    // Zeroes precede the quotient, and follow it.
    this.#quotient = zeroedBytes(this.#restBytes + BLOCK_BYTES_MAX);
    this.#beforeAt = placeInAlignedMemory(this.#quotient) as number;
    this.#stateAt = this.#restBytes - degree;
    const distances = exponents.slice(1).map((exponent) => degree - exponent);
    this.#fold = compileFold(distances, this.#restBytes);
  }

  /** How many of `length` bytes one `fold` should take; 0 if they are too few to be worth it. */
  bytesOf(length: number): number {
    const bytes = Math.min(length - (length % ITERATION_BYTES), BLOCK_BYTES_MAX);
    return bytes >= 2 * this.#restBytes ? bytes : 0;
  }

  /**
   * Reduces `bytes` bytes of aligned memory to the bytes from `restAt` to `restUntil`, which have
   * the same CRC. `state` is the CRC of the bytes before them.
   */
  fold(at: number, bytes: number, state: bigint): void {
    const room = this.#restBytes;
    const until = bytes - room;
    const before = this.#beforeAt;
    // Only the farthest distance reaches the state, and only from the first bytes.
    this.#quotient.writeBigInt64LE(state, this.#stateAt);
    this.#fold(at, at + until, before, before + room);
    clearMemory(before + room + until, before + room + bytes);
    this.#fold(at + until, at + bytes, before + until, this.restAt);
  }
}

function compileFold(distances: readonly number[], room: number): Fold {
  const foldVector = (offset: number): Code => [
    ...get(TO),
    ...[...get(AT), ...loadVector(offset)],
    ...distances.flatMap((distance) => [
      ...[...get(BEFORE), ...loadVector(room - distance + offset)],
      ...V128_XOR,
    ]),
    ...storeVector(offset),
  ];
  const code = whileTrue(
    [...get(AT), ...get(UNTIL), I32_LT_U],
    [
      ...Array.from({ length: UNROLLED }, (_, index) => foldVector(index * VECTOR_BYTES)).flat(),
      ...[AT, BEFORE, TO].flatMap((local) => [
        ...[...get(local), ...i32(ITERATION_BYTES), I32_ADD],
        ...set(local),
      ]),
    ],
  );
  return compile<Fold>(
    { parameters: [I32, I32, I32, I32], results: [], locals: [], code },
    alignedMemory,
  );
}
