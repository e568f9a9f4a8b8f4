import type { Bytes } from "../base/bytes.ts";
import { KIB } from "../base/limits.ts";
import { alignedBytes, alignedMemory, placeInAlignedMemory } from "./aligned-bytes.ts";
import { clearMemory } from "./clear-memory.ts";
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
/** Vectors that are added up in one turn of the loop. */
const UNROLLED = 4;
const TURN_BYTES = UNROLLED * VECTOR_BYTES;
/** As much is folded at one go. */
const BLOCK_BYTES_MAX = 64 * KIB;

// The function's parameters.
const AT = 0;
const UNTIL = 1;
const BEFORE = 2;
const TO = 3;

/** Adds up vectors and what lies at the taps. `before` is as far before the first one as there is room. */
type Fold = (at: number, until: number, before: number, to: number) => void;

/**
 * Makes many bytes few that have the same checksum. A CRC is the remainder of a division by a
 * polynomial, so the remainder of a division by any multiple of it has the same CRC. This one divides
 * by a multiple with few terms: a byte of the quotient is a byte of the bytes and some bytes of the
 * quotient before it, added up, and no table is asked. Modulo 2, the eighth power of a polynomial in x
 * is the same polynomial in x to the eighth: so its exponents count bytes as well as bits. That vectors
 * do not begin where the processor likes it costs less than terms do, or memory that is far away.
 */
export class ByteFolding {
  /** Where what is left of a block lies in aligned memory. */
  readonly restAt: number;
  readonly restUntil: number;
  readonly #restBytes: number;
  readonly #quotient: Bytes;
  readonly #beforeAt: number;
  /** Where the last tap of the first byte is. */
  readonly #stateAt: number;
  readonly #fold: Fold;

  /** `exponents` of the multiple's terms, the highest first, and 0 last. */
  constructor(exponents: readonly number[]) {
    const degree = exponents[0] as number;
    // The division may end sooner than it must.
    this.#restBytes = Math.ceil(degree / TURN_BYTES) * TURN_BYTES;
    this.restAt = placeInAlignedMemory(alignedBytes(this.#restBytes)) as number;
    this.restUntil = this.restAt + this.#restBytes;
    // Before the quotient there are zeros, and behind it, too.
    this.#quotient = alignedBytes(this.#restBytes + BLOCK_BYTES_MAX);
    this.#beforeAt = placeInAlignedMemory(this.#quotient) as number;
    this.#stateAt = this.#restBytes - degree;
    const taps = exponents.slice(1).map((exponent) => degree - exponent);
    this.#fold = compileFold(taps, this.#restBytes);
  }

  /** How many of so many bytes can be folded at one go; 0 if that is not worth it. */
  bytesOf(length: number): number {
    const bytes = Math.min(length - (length % TURN_BYTES), BLOCK_BYTES_MAX);
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
    // Of all taps only the last ones of the first bytes see it.
    this.#quotient.writeBigInt64LE(state, this.#stateAt);
    this.#fold(at, at + until, before, before + room);
    clearMemory(before + room + until, before + room + bytes);
    this.#fold(at + until, at + bytes, before + until, this.restAt);
  }
}

function compileFold(taps: readonly number[], room: number): Fold {
  const foldVector = (offset: number): Code => [
    ...get(TO),
    ...[...get(AT), ...loadVector(offset)],
    ...taps.flatMap((tap) => [
      ...[...get(BEFORE), ...loadVector(room - tap + offset)],
      ...V128_XOR,
    ]),
    ...storeVector(offset),
  ];
  const code = whileTrue(
    [...get(AT), ...get(UNTIL), I32_LT_U],
    [
      ...Array.from({ length: UNROLLED }, (_, index) => foldVector(index * VECTOR_BYTES)).flat(),
      ...[AT, BEFORE, TO].flatMap((local) => [
        ...[...get(local), ...i32(TURN_BYTES), I32_ADD],
        ...set(local),
      ]),
    ],
  );
  return compile<Fold>(
    { parameters: [I32, I32, I32, I32], results: [], locals: [], code },
    alignedMemory,
  );
}
