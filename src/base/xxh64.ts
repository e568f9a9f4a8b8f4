import { alignedMemory, placeInAlignedMemory } from "./aligned-bytes.ts";
import type { Bytes } from "./bytes.ts";
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
  I64_GE_U,
  I64_MUL,
  I64_ROTL,
  I64_SHR_U,
  I64_XOR,
  i32,
  i64,
  ifElse,
  loadByte,
  loadHalf,
  loadWord,
  set,
  whileTrue,
} from "./wasm-code.ts";

/**
 * The low half of XXH64, with seed 0, of bytes in aligned memory: as good as any checksum of its size
 * at finding damage, and less than half the work of CRC-32, which Node looks up byte by byte.
 */
export function xxh64Low(bytes: Bytes): number {
  const at = placeInAlignedMemory(bytes);
  if (at === null) throw new Error("XXH64 sees aligned memory only");
  return digest(at, at + bytes.length) >>> 0;
}

const PRIME_1 = 0x9e3779b185ebca87n;
const PRIME_2 = 0xc2b2ae3d27d4eb4fn;
const PRIME_3 = 0x165667b19e3779f9n;
const PRIME_4 = 0x85ebca77c2b2ae63n;
const PRIME_5 = 0x27d4eb2f165667c5n;
const STRIPE_BYTES = 32;

// The function's parameters, and local variables behind them.
const AT = 0;
const UNTIL = 1;
const LENGTH = 2;
const STATE = 3;
const LANES = [4, 5, 6, 7] as const;
const STARTS = [PRIME_1 + PRIME_2, PRIME_2, 0n, -PRIME_1] as const;
const LANE_TURNS = [1n, 7n, 12n, 18n] as const;

const times = (prime: bigint): Code => [...i64(prime), I64_MUL];
const plus = (prime: bigint): Code => [...i64(prime), I64_ADD];
const turned = (bits: bigint): Code => [...i64(bits), I64_ROTL];

/** Mixes a word on the stack into a lane, or into nothing, and leaves the result there. */
const mix = (lane: Code, word: Code): Code => [
  ...[...word, ...times(PRIME_2), ...lane, I64_ADD],
  ...[...turned(31n), ...times(PRIME_1)],
];

/** Does it to all there is of so many bytes. */
const whileLeft = (bytes: number, body: Code): Code =>
  whileTrue(
    [...get(AT), ...i32(bytes), I32_ADD, ...get(UNTIL), I32_LE_U],
    [...body, ...get(AT), ...i32(bytes), I32_ADD, ...set(AT)],
  );

const stripe: Code = LANES.flatMap((lane, index) => [
  ...mix(get(lane), [...get(AT), ...loadWord(8 * index)]),
  ...set(lane),
]);

const gatherLanes: Code = [
  ...LANES.flatMap((lane, index) => [
    ...[...get(lane), ...turned(LANE_TURNS[index] as bigint)],
    ...(index === 0 ? [] : [I64_ADD]),
  ]),
  ...set(STATE),
  ...LANES.flatMap((lane) => [
    ...[...get(STATE), ...mix(i64(0n), get(lane)), I64_XOR],
    ...[...times(PRIME_1), ...plus(PRIME_4), ...set(STATE)],
  ]),
];

/** What is left behind the last stripe. */
const rest: Code = [
  ...whileLeft(8, [
    ...[...get(STATE), ...mix(i64(0n), [...get(AT), ...loadWord(0)]), I64_XOR],
    ...[...turned(27n), ...times(PRIME_1), ...plus(PRIME_4), ...set(STATE)],
  ]),
  ...whileLeft(4, [
    ...[...get(STATE), ...get(AT), ...loadHalf(0), ...times(PRIME_1), I64_XOR],
    ...[...turned(23n), ...times(PRIME_2), ...plus(PRIME_3), ...set(STATE)],
  ]),
  ...whileLeft(1, [
    ...[...get(STATE), ...get(AT), ...loadByte(0), ...times(PRIME_5), I64_XOR],
    ...[...turned(11n), ...times(PRIME_1), ...set(STATE)],
  ]),
];

/** Lets every bit have its say in all others. */
const foldBy = (bits: bigint): Code => [
  ...[...get(STATE), ...get(STATE), ...i64(bits), I64_SHR_U, I64_XOR],
];
const avalanche: Code = [
  ...[...foldBy(33n), ...times(PRIME_2), ...set(STATE)],
  ...[...foldBy(29n), ...times(PRIME_3), ...set(STATE)],
  ...foldBy(32n),
];

const digest = compile<(at: number, until: number) => number>(
  {
    parameters: [I32, I32],
    results: [I32],
    locals: [I64, I64, I64, I64, I64, I64],
    code: [
      ...[...get(UNTIL), ...get(AT), I32_SUB, I64_EXTEND_U, ...set(LENGTH)],
      ...LANES.flatMap((lane, index) => [...i64(STARTS[index] as bigint), ...set(lane)]),
      ...whileLeft(STRIPE_BYTES, stripe),
      ...ifElse([...get(LENGTH), ...i64(BigInt(STRIPE_BYTES)), I64_GE_U], gatherLanes, [
        ...[...i64(PRIME_5), ...set(STATE)],
      ]),
      ...[...get(STATE), ...get(LENGTH), I64_ADD, ...set(STATE)],
      ...rest,
      ...avalanche,
      I32_WRAP_I64,
    ],
  },
  alignedMemory,
);
