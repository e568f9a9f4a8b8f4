import { alignedBytes, alignedMemory, placeInAlignedMemory } from "./aligned-bytes.ts";
import type { Bytes } from "./bytes.ts";
import { KIB } from "./limits.ts";
import {
  type Code,
  compile,
  get,
  I32,
  I32_ADD,
  I32_LE_U,
  i32,
  loadVector,
  set,
  storeVector,
  V128_XOR,
  whileTrue,
} from "./wasm-code.ts";

const WORD_BYTES = 8;
const VECTOR_BYTES = 16;
const UNROLLED = 4;
/** As much is folded at one go. */
const BLOCK_BYTES_MAX = 64 * KIB;

// The function's parameters.
const AT = 0;
const UNTIL = 1;
const BEFORE = 2;
const TO = 3;

/** Adds up vectors and what lies at the taps. `before` is where the last tap of the first one is. */
type Fold = (at: number, until: number, before: number, to: number) => void;

/**
 * Makes many bytes few that have the same checksum. A CRC is the remainder of a division by a
 * polynomial, so the remainder of a division by any multiple of it has the same CRC. This one divides
 * by a multiple with few terms: a word of the quotient is a word of the bytes and some words of the
 * quotient before it, added up, and no table is asked. Modulo 2, the 64th power of a polynomial in x
 * is the same polynomial in x to the 64th: so its exponents count words as well as bits.
 */
export class WordFolding {
  /** Where what is left of a block lies in aligned memory. */
  readonly restAt: number;
  readonly restUntil: number;
  readonly #restBytes: number;
  readonly #quotient: Bytes;
  /** Filling shared memory with a number goes byte by byte. */
  readonly #zeros: Bytes;
  readonly #beforeAt: number;
  readonly #fold: Fold;

  /** `exponents` of the multiple's terms, the highest, which is even, first, and 0 last. */
  constructor(exponents: readonly number[]) {
    const degree = exponents[0] as number;
    this.#restBytes = degree * WORD_BYTES;
    this.restAt = placeInAlignedMemory(alignedBytes(this.#restBytes)) as number;
    this.restUntil = this.restAt + this.#restBytes;
    // Before the quotient there are zeros, and behind it, too.
    this.#quotient = alignedBytes(this.#restBytes + BLOCK_BYTES_MAX);
    this.#zeros = Buffer.alloc(this.#restBytes);
    this.#beforeAt = placeInAlignedMemory(this.#quotient) as number;
    this.#fold = compileFold(exponents.slice(1).map((exponent) => degree - exponent));
  }

  /** How many of so many bytes can be folded at one go; 0 if that is not worth it. */
  bytesOf(length: number): number {
    const bytes = Math.min(length - (length % VECTOR_BYTES), BLOCK_BYTES_MAX);
    return bytes >= 2 * this.#restBytes ? bytes : 0;
  }

  /**
   * Leaves there what has the checksum of `bytes` bytes of aligned memory, to which `state` is
   * added first, as a CRC does with what came before.
   */
  fold(at: number, bytes: number, state: bigint): void {
    const room = this.#restBytes;
    const until = bytes - room;
    const before = this.#beforeAt;
    // Only the last tap of the first word is here.
    this.#quotient.writeBigInt64LE(state);
    this.#fold(at, at + until, before, before + room);
    this.#quotient.fill(this.#zeros, room + until, room + bytes);
    this.#fold(at + until, at + bytes, before + until, this.restAt);
  }
}

function compileFold(taps: readonly number[]): Fold {
  const room = Math.max(...taps) * WORD_BYTES;
  const foldVector = (offset: number): Code => [
    ...get(TO),
    ...[...get(AT), ...loadVector(offset)],
    ...taps.flatMap((tap) => [
      ...[...get(BEFORE), ...loadVector(room - tap * WORD_BYTES + offset)],
      ...V128_XOR,
    ]),
    ...storeVector(offset),
  ];
  const foldVectors = (count: number): Code =>
    whileTrue(
      [...get(AT), ...i32(count * VECTOR_BYTES), I32_ADD, ...get(UNTIL), I32_LE_U],
      [
        ...Array.from({ length: count }, (_, index) => foldVector(index * VECTOR_BYTES)).flat(),
        ...[AT, BEFORE, TO].flatMap((local) => [
          ...[...get(local), ...i32(count * VECTOR_BYTES), I32_ADD],
          ...set(local),
        ]),
      ],
    );
  return compile<Fold>(
    {
      parameters: [I32, I32, I32, I32],
      results: [],
      locals: [],
      code: [...foldVectors(UNROLLED), ...foldVectors(1)],
    },
    alignedMemory,
  );
}
