import type { SharedMemory } from "./aligned-bytes.ts";
import {
  type Code,
  compile,
  get,
  I32,
  I32_ADD,
  I32_AND,
  I32_OR,
  I32_ROTL,
  I32_SUB,
  I32_XOR,
  I32X4_ADD,
  I32X4_SHL,
  I32X4_SHR_U,
  i32,
  i32x4,
  load32,
  loadVector,
  pick,
  set,
  store32,
  storeVector,
  V128,
  V128_AND,
  V128_NOT,
  V128_OR,
  V128_XOR,
  whileTrue,
} from "./wasm-code.ts";

export const MD5_BLOCK_BYTES = 64;
export const MD5_STATE_BYTES = 16;

/**
 * MD5's block function (RFC 1321), on states and blocks in WebAssembly memory. Each step depends on
 * the one before, which leaves most of a processor idle. So four bodies in the four lanes of a
 * vector take little longer than one.
 */
export interface Md5Blocks {
  /** Hashes blocks of one body. */
  one(state: number, at: number, blocks: number): void;
  /** Hashes the same number of blocks of each of four bodies, which must have different states. */
  four(states: FourPlaces, at: FourPlaces, blocks: number): void;
}

export type FourPlaces = readonly [number, number, number, number];

/** Compiles the block function for a memory. */
export function md5Blocks(memory: SharedMemory): Md5Blocks {
  const one = compile<Md5Blocks["one"]>(oneBody, memory);
  const four = compile<(...places: [...FourPlaces, ...FourPlaces, number]) => void>(
    fourBodies,
    memory,
  );
  return { one, four: (states, at, blocks) => four(...states, ...at, blocks) };
}

/** Instructions on 32-bit numbers, or on vectors of four. Their operands are on the stack. */
interface Arithmetic {
  readonly add: Code;
  readonly and: Code;
  readonly or: Code;
  readonly xor: Code;
  readonly not: Code;
  constant(value: number): Code;
  rotated(bits: number): Code;
}

/** Local variables for the four words of a state. */
type Registers = readonly [number, number, number, number];

const WORDS = Array.from({ length: 16 }, (_, word) => word);
const STEPS = Array.from({ length: 64 }, (_, step) => step);
const ROTATIONS = [
  [7, 12, 17, 22],
  [5, 9, 14, 20],
  [4, 11, 16, 23],
  [6, 10, 15, 21],
] as const;

/** The 64 steps for one block. `word` pushes a word of the block onto the stack. */
function steps(arithmetic: Arithmetic, registers: Registers, word: (index: number) => Code): Code {
  const { add, constant, rotated } = arithmetic;
  return STEPS.flatMap((step) => {
    const round = step >> 4;
    const [a, b, c, d] = [0, 1, 2, 3].map((place) => registers[(place - step) & 3] as number) as [
      number,
      number,
      number,
      number,
    ];
    const sine = Math.floor(Math.abs(Math.sin(step + 1)) * 2 ** 32);
    return [
      ...[...get(a), ...word(wordOf(round, step)), ...add, ...constant(sine | 0), ...add],
      ...mixed(arithmetic, round, b, c, d),
      ...rotated(ROTATIONS[round]?.[step & 3] as number),
      ...[...get(b), ...add, ...set(a)],
    ];
  });
}

function wordOf(round: number, step: number): number {
  const [factor, start] = [
    [1, 0],
    [5, 1],
    [3, 5],
    [7, 0],
  ][round] as [number, number];
  return (factor * step + start) & 15;
}

/** Adds a round's function of three words. It uses `b` late, because `b` is known last. */
function mixed(arithmetic: Arithmetic, round: number, b: number, c: number, d: number): Code {
  const { add, and, or, xor, not } = arithmetic;
  switch (round) {
    case 0:
      return [...get(c), ...get(d), ...xor, ...get(b), ...and, ...get(d), ...xor, ...add];
    case 1:
      return [
        ...[...get(d), ...not, ...get(c), ...and, ...add],
        ...[...get(d), ...get(b), ...and, ...add],
      ];
    case 2:
      return [...get(c), ...get(d), ...xor, ...get(b), ...xor, ...add];
    default:
      return [...get(d), ...not, ...get(b), ...or, ...get(c), ...xor, ...add];
  }
}

/** Runs the steps of a block, and adds the state from before them. */
function block({ add }: Arithmetic, registers: Registers, old: Registers, steps: Code): Code {
  return [
    ...registers.flatMap((register, index) => [...get(register), ...set(old[index] as number)]),
    ...steps,
    ...registers.flatMap((register, index) => [
      ...[...get(register), ...get(old[index] as number), ...add, ...set(register)],
    ]),
  ];
}

/** Loops over the blocks of all bodies. */
function forAllBlocks(blocks: number, places: readonly number[], block: Code): Code {
  return whileTrue(get(blocks), [
    ...block,
    ...places.flatMap((at) => [...get(at), ...i32(MD5_BLOCK_BYTES), I32_ADD, ...set(at)]),
    ...[...get(blocks), ...i32(1), I32_SUB, ...set(blocks)],
  ]);
}

const oneBody = (() => {
  const [state, at, blocks] = [0, 1, 2];
  const registers = [3, 4, 5, 6] as const;
  const old = [7, 8, 9, 10] as const;
  const numbers: Arithmetic = {
    add: [I32_ADD],
    and: [I32_AND],
    or: [I32_OR],
    xor: [I32_XOR],
    not: [...i32(-1), I32_XOR],
    constant: i32,
    rotated: (bits) => [...i32(bits), I32_ROTL],
  };
  const allSteps = steps(numbers, registers, (word) => [...get(at), ...load32(4 * word)]);
  return {
    parameters: [I32, I32, I32],
    results: [],
    locals: [...registers, ...old].map(() => I32),
    code: [
      ...registers.flatMap((local, word) => [...get(state), ...load32(4 * word), ...set(local)]),
      ...forAllBlocks(blocks, [at], block(numbers, registers, old, allSteps)),
      ...registers.flatMap((local, word) => [...get(state), ...get(local), ...store32(4 * word)]),
    ],
  };
})();

const fourBodies = (() => {
  const states = [0, 1, 2, 3];
  const places = [4, 5, 6, 7];
  const blocks = 8;
  const registers = [9, 10, 11, 12] as const;
  const old = [13, 14, 15, 16] as const;
  const words = WORDS.map((word) => 17 + word);
  const spare = [33, 34, 35, 36] as const;
  const [rotating] = spare;
  const vectors: Arithmetic = {
    add: I32X4_ADD,
    and: V128_AND,
    or: V128_OR,
    xor: V128_XOR,
    not: V128_NOT,
    constant: i32x4,
    rotated: (bits) => [
      ...[...set(rotating), ...get(rotating), ...i32(bits), ...I32X4_SHL],
      ...[...get(rotating), ...i32(32 - bits), ...I32X4_SHR_U, ...V128_OR],
    ],
  };
  /** Transposes a 4×4 matrix: from one vector per body to one vector per word, or back. */
  const transposed = (of: readonly number[]): Code => {
    const [one, two, three, four] = of as unknown as Registers;
    const join = (first: number, second: number, places: FourPlaces, to: number) => [
      ...[...get(first), ...get(second), ...pick(...places), ...set(to)],
    ];
    return [
      ...join(one, two, [0, 4, 1, 5], spare[0]),
      ...join(one, two, [2, 6, 3, 7], spare[1]),
      ...join(three, four, [0, 4, 1, 5], spare[2]),
      ...join(three, four, [2, 6, 3, 7], spare[3]),
      ...join(spare[0], spare[2], [0, 1, 4, 5], one),
      ...join(spare[0], spare[2], [2, 3, 6, 7], two),
      ...join(spare[1], spare[3], [0, 1, 4, 5], three),
      ...join(spare[1], spare[3], [2, 3, 6, 7], four),
    ];
  };
  const loadWords = [0, 4, 8, 12].flatMap((first) => {
    const four = words.slice(first, first + 4);
    return [
      ...four.flatMap((to, body) => [
        ...[...get(places[body] as number), ...loadVector(4 * first), ...set(to)],
      ]),
      ...transposed(four),
    ];
  });
  const allSteps = steps(vectors, registers, (word) => get(words[word] as number));
  return {
    parameters: [...states, ...places, blocks].map(() => I32),
    results: [],
    locals: [...registers, ...old, ...words, ...spare].map(() => V128),
    code: [
      ...registers.flatMap((local, body) => [
        ...[...get(states[body] as number), ...loadVector(0), ...set(local)],
      ]),
      ...transposed(registers),
      ...forAllBlocks(blocks, places, [...loadWords, ...block(vectors, registers, old, allSteps)]),
      ...transposed(registers),
      ...registers.flatMap((local, body) => [
        ...[...get(states[body] as number), ...get(local), ...storeVector(0)],
      ]),
    ],
  };
})();
