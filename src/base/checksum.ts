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
  I64_EXTEND_U,
  I64_MUL,
  I64_ROTL,
  I64_SHR_U,
  I64_XOR,
  i32,
  i64,
  loadByte,
  loadWord,
  set,
  whileTrue,
} from "./wasm-code.ts";

/**
 * 32 bits that tell damaged bytes from those that were written, of bytes in aligned memory. Words of 64
 * bits are mixed into eight lanes by turns, and the lanes into one in the end, each in one step:
 * `(lane ^ word) * PRIME`, turned by 31 bits. What makes it fast is that a word costs one multiplication
 * (XXH64, which this is made after, takes two), and that lanes need not wait for one another.
 *
 * A step can be undone if the word is known, so that two states which differ will do so until the end:
 * a damaged word cannot go unseen before the 64 bits that are left are cut to 32, all of which depend on
 * each of them.
 */
export function checksum32(bytes: Bytes): number {
  const at = placeInAlignedMemory(bytes);
  if (at === null) throw new Error("checksums are made of aligned memory only");
  return checksum32At(at, at + bytes.length);
}

/** The same, of bytes that lie there in aligned memory. */
export function checksum32At(at: number, until: number): number {
  return digest(at, until) >>> 0;
}

/** Odd, half of their bits set, and without a pattern: those of XXH64. */
const PRIME = 0x9e3779b185ebca87n;
const START_PRIME = 0xc2b2ae3d27d4eb4fn;
const END_PRIME = 0x165667b19e3779f9n;
const TURN_BITS = 31n;

// The function's parameters, and local variables behind them.
const AT = 0;
const UNTIL = 1;
const STATE = 2;
const LANES = [3, 4, 5, 6, 7, 8, 9, 10] as const;
const WORD_BYTES = 8;
const STRIPE_BYTES = WORD_BYTES * LANES.length;

const step = (into: number, word: Code): Code => [
  ...[...word, ...get(into), I64_XOR, ...i64(PRIME), I64_MUL],
  ...[...i64(TURN_BITS), I64_ROTL, ...set(into)],
];

/** Does it to all there is of so many bytes. */
const whileLeft = (bytes: number, body: Code): Code =>
  whileTrue(
    [...get(AT), ...i32(bytes), I32_ADD, ...get(UNTIL), I32_LE_U],
    [...body, ...get(AT), ...i32(bytes), I32_ADD, ...set(AT)],
  );

const wordAt = (offset: number): Code => [...get(AT), ...loadWord(offset)];

/** Lets every bit have its say in all that are kept. */
const foldBy = (bits: bigint): Code => [
  ...[...get(STATE), ...get(STATE), ...i64(bits), I64_SHR_U, I64_XOR],
];
const cut: Code = [
  ...[...foldBy(33n), ...i64(START_PRIME), I64_MUL, ...set(STATE)],
  ...[...foldBy(29n), ...i64(END_PRIME), I64_MUL, ...set(STATE)],
  ...[...foldBy(32n), I32_WRAP_I64],
];

const digest = compile<(at: number, until: number) => number>(
  {
    parameters: [I32, I32],
    results: [I32],
    locals: [I64, ...LANES.map(() => I64)],
    code: [
      ...[...get(UNTIL), ...get(AT), I32_SUB, I64_EXTEND_U, ...set(STATE)],
      ...LANES.flatMap((lane, index) => [...i64(START_PRIME * BigInt(index + 1)), ...set(lane)]),
      ...whileLeft(
        STRIPE_BYTES,
        LANES.flatMap((lane, index) => step(lane, wordAt(WORD_BYTES * index))),
      ),
      ...LANES.flatMap((lane) => step(STATE, get(lane))),
      ...whileLeft(WORD_BYTES, step(STATE, wordAt(0))),
      ...whileLeft(1, step(STATE, [...get(AT), ...loadByte(0)])),
      ...cut,
    ],
  },
  alignedMemory,
);
