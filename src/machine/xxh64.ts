import type { Bytes } from "../base/bytes.ts";
import { alignedMemory, placeInAlignedMemory } from "./aligned-bytes.ts";
import {
  type Code,
  compile,
  get,
  I32,
  I32_ADD,
  I32_LE_U,
  I32_SUB,
  I32_WRAP_I64,
  I64,
  I64_ADD,
  I64_EXTEND_U,
  I64_MUL,
  I64_ROTL,
  I64_SHR_U,
  I64_SUB,
  I64_XOR,
  i32,
  i64,
  ifElse,
  loadByte,
  loadHalfWord,
  loadWord,
  set,
  whileTrue,
} from "./wasm-code.ts";

/** XXH64 of bytes in aligned memory, with a 32-bit seed. */
export function xxh64(bytes: Bytes, seed: number): bigint {
  const at = placeOf(bytes);
  return BigInt.asUintN(64, digest(at, at + bytes.length, seed));
}

/** The low 32 bits of XXH64, as in Zstandard frames (RFC 8878). */
export function xxh64Low(bytes: Bytes, seed: number): number {
  const at = placeOf(bytes);
  return xxh64LowAt(at, at + bytes.length, seed);
}

/** `xxh64Low` of the bytes between two places in aligned memory. */
export function xxh64LowAt(at: number, until: number, seed: number): number {
  return lowDigest(at, until, seed) >>> 0;
}

function placeOf(bytes: Bytes): number {
  const at = placeInAlignedMemory(bytes);
  if (at === null) throw new Error("XXH64 is computed in aligned memory only");
  return at;
}

const PRIME_1 = 0x9e3779b185ebca87n;
const PRIME_2 = 0xc2b2ae3d27d4eb4fn;
const PRIME_3 = 0x165667b19e3779f9n;
const PRIME_4 = 0x85ebca77c2b2ae63n;
const PRIME_5 = 0x27d4eb2f165667c5n;

// The function's parameters, then its local variables.
const AT = 0;
const UNTIL = 1;
const SEED = 2;
const STATE = 3;
const LENGTH = 4;
const LANES = [5, 6, 7, 8] as const;
const WORD_BYTES = 8;
const STRIPE_BYTES = WORD_BYTES * LANES.length;

const seed: Code = [...get(SEED), I64_EXTEND_U];
const laneStarts: readonly Code[] = [
  [...seed, ...i64(PRIME_1 + PRIME_2), I64_ADD],
  [...seed, ...i64(PRIME_2), I64_ADD],
  seed,
  [...seed, ...i64(PRIME_1), I64_SUB],
];
const LANE_ROTATIONS = [1n, 7n, 12n, 18n] as const;

const rotate = (bits: bigint): Code => [...i64(bits), I64_ROTL];
const multiply = (factor: bigint): Code => [...i64(factor), I64_MUL];
const wordAt = (offset: number): Code => [...get(AT), ...loadWord(offset)];

const stripe: Code = LANES.flatMap((lane, index) => [
  ...[...get(lane), ...wordAt(WORD_BYTES * index), ...multiply(PRIME_2), I64_ADD],
  ...[...rotate(31n), ...multiply(PRIME_1), ...set(lane)],
]);

/** The transformation of a word before it is XORed into the state. */
const mixed = (word: Code): Code => [
  ...[...word, ...multiply(PRIME_2), ...rotate(31n), ...multiply(PRIME_1)],
];

const xorIntoState = (value: Code): Code => [...get(STATE), ...value, I64_XOR];

const mergeLane = (lane: number): Code => [
  ...[...xorIntoState(mixed(get(lane))), ...multiply(PRIME_1)],
  ...[...i64(PRIME_4), I64_ADD, ...set(STATE)],
];

/** Runs `body` while at least `bytes` bytes are left, and advances by that many. */
const whileLeft = (bytes: number, body: Code): Code =>
  whileTrue(
    [...get(AT), ...i32(bytes), I32_ADD, ...get(UNTIL), I32_LE_U],
    [...body, ...get(AT), ...i32(bytes), I32_ADD, ...set(AT)],
  );

const stripes: Code = [
  ...LANES.flatMap((lane, index) => [...(laneStarts[index] as Code), ...set(lane)]),
  ...whileLeft(STRIPE_BYTES, stripe),
  ...LANES.flatMap((lane, index) => [
    ...[...get(lane), ...rotate(LANE_ROTATIONS[index] as bigint)],
    ...(index === 0 ? [] : [I64_ADD]),
  ]),
  ...set(STATE),
  ...LANES.flatMap(mergeLane),
];

/** The last bytes, fewer than a stripe. */
const rest: Code = [
  ...whileLeft(WORD_BYTES, [
    ...[...xorIntoState(mixed(wordAt(0))), ...rotate(27n), ...multiply(PRIME_1)],
    ...[...i64(PRIME_4), I64_ADD, ...set(STATE)],
  ]),
  ...whileLeft(WORD_BYTES / 2, [
    ...xorIntoState([...get(AT), ...loadHalfWord(0), ...multiply(PRIME_1)]),
    ...[...rotate(23n), ...multiply(PRIME_2), ...i64(PRIME_3), I64_ADD, ...set(STATE)],
  ]),
  ...whileLeft(1, [
    ...xorIntoState([...get(AT), ...loadByte(0), ...multiply(PRIME_5)]),
    ...[...rotate(11n), ...multiply(PRIME_1), ...set(STATE)],
  ]),
];

const foldBy = (bits: bigint): Code => xorIntoState([...get(STATE), ...i64(bits), I64_SHR_U]);
const avalanche: Code = [
  ...[...foldBy(33n), ...multiply(PRIME_2), ...set(STATE)],
  ...[...foldBy(29n), ...multiply(PRIME_3), ...set(STATE)],
  ...foldBy(32n),
];

const whole: Code = [
  ...[...get(UNTIL), ...get(AT), I32_SUB, ...set(LENGTH)],
  ...ifElse([...i32(STRIPE_BYTES), ...get(LENGTH), I32_LE_U], stripes, [
    ...[...seed, ...i64(PRIME_5), I64_ADD, ...set(STATE)],
  ]),
  ...[...get(STATE), ...get(LENGTH), I64_EXTEND_U, I64_ADD, ...set(STATE)],
  ...rest,
  ...avalanche,
];

const shape = {
  parameters: [I32, I32, I32],
  locals: [I64, I32, ...LANES.map(() => I64)],
};
type Digest<T> = (at: number, until: number, seed: number) => T;
const digest = compile<Digest<bigint>>({ ...shape, results: [I64], code: whole }, alignedMemory);
/** A function of its own, because a 64-bit result would allocate a BigInt per call. */
const lowDigest = compile<Digest<number>>(
  { ...shape, results: [I32], code: [...whole, I32_WRAP_I64] },
  alignedMemory,
);
