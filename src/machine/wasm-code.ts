import type { SharedMemory } from "./aligned-bytes.ts";

/** Encoded WebAssembly instructions, for the fast 64-bit arithmetic that JavaScript lacks. */
export type Code = readonly number[];

// Codes of the types and instructions in use.
export const I32 = 0x7f;
export const I64 = 0x7e;
export const V128 = 0x7b;
export const END = 0x0b;
export const I32_LT_U = 0x49;
export const I32_LE_U = 0x4d;
export const I64_NE = 0x52;
export const I32_ADD = 0x6a;
export const I32_SUB = 0x6b;
export const I32_AND = 0x71;
export const I32_OR = 0x72;
export const I32_XOR = 0x73;
export const I32_SHL = 0x74;
export const I32_SHR_U = 0x76;
export const I32_ROTL = 0x77;
export const I64_ADD = 0x7c;
export const I64_SUB = 0x7d;
export const I64_MUL = 0x7e;
export const I64_AND = 0x83;
export const I64_XOR = 0x85;
export const I64_SHL = 0x86;
export const I64_SHR_U = 0x88;
export const I64_ROTL = 0x89;
export const I32_WRAP_I64 = 0xa7;
export const I64_EXTEND_U = 0xad;
export const V128_NOT: Code = [0xfd, 0x4d];
export const V128_AND: Code = [0xfd, 0x4e];
export const V128_OR: Code = [0xfd, 0x50];
export const V128_XOR: Code = [0xfd, 0x51];
export const I32X4_SHL: Code = [0xfd, 0xab, 1];
export const I32X4_SHR_U: Code = [0xfd, 0xad, 1];
export const I32X4_ADD: Code = [0xfd, 0xae, 1];

export const get = (local: number): Code => [0x20, local];
export const set = (local: number): Code => [0x21, local];
export const i32 = (value: number): Code => [0x41, ...signed(BigInt(value))];
export const i64 = (value: bigint): Code => [0x42, ...signed(BigInt.asIntN(64, value))];
/** A vector of four equal 32-bit numbers. */
export const i32x4 = (value: number): Code => {
  const bytes = [value, value >>> 8, value >>> 16, value >>> 24].map((part) => part & 0xff);
  return [0xfd, 0x0c, ...bytes, ...bytes, ...bytes, ...bytes];
};
/** Picks four of the eight 32-bit numbers in two vectors on the stack. */
export const pick = (...places: readonly [number, number, number, number]): Code => [
  ...[0xfd, 0x0d],
  ...places.flatMap((place) => [0, 1, 2, 3].map((byte) => 4 * place + byte)),
];
/** Loads 64 bits from `offset` bytes after the address on the stack. */
export const loadWord = (offset: number): Code => [0x29, 0, ...count(offset)];
/** Loads 32 bits, extended to 64. */
export const loadHalfWord = (offset: number): Code => [0x35, 0, ...count(offset)];
export const load32 = (offset: number): Code => [0x28, 0, ...count(offset)];
export const store32 = (offset: number): Code => [0x36, 0, ...count(offset)];
export const loadByte = (offset: number): Code => [0x31, 0, ...count(offset)];
/** Loads 128 bits. */
export const loadVector = (offset: number): Code => [0xfd, 0x00, 0, ...count(offset)];
export const storeVector = (offset: number): Code => [0xfd, 0x0b, 0, ...count(offset)];

/** Fills memory with a byte. Address, byte and count are on the stack. */
export const MEMORY_FILL: Code = [0xfc, 0x0b, 0];

/** `loop (if condition (body, again))`: both levels are blocks, `again` leaves the inner one. */
export const whileTrue = (condition: Code, body: Code): Code => [
  ...[0x03, 0x40],
  ...condition,
  ...[0x04, 0x40],
  ...body,
  ...[0x0c, 1],
  END,
  END,
];

export const ifElse = (condition: Code, then: Code, otherwise: Code): Code => [
  ...condition,
  ...[0x04, 0x40],
  ...then,
  0x05,
  ...otherwise,
  END,
];

export interface WasmFunction {
  readonly parameters: Code;
  readonly results: Code;
  /** The types of the local variables, which are numbered after the parameters. */
  readonly locals: Code;
  readonly code: Code;
}

/** Compiles a function that operates on this memory. */
export function compile<F>(
  { parameters, results, locals, code }: WasmFunction,
  memory: SharedMemory,
): F {
  const declared = [locals.length, ...locals.flatMap((type) => [1, type])];
  const bytes = Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [1, 0x60, ...sized(parameters), ...sized(results)]),
    ...section(2, [1, ...name("m"), ...name("m"), 2, 3, 0, ...count(65_536)]), // shared memory
    ...section(3, [1, 0]),
    ...section(7, [1, ...name("f"), 0, 0]),
    ...section(10, [1, ...sized([...declared, ...code, END])]),
  ]);
  const module = new WebAssembly.Module(bytes);
  return new WebAssembly.Instance(module, { m: { m: memory } }).exports.f as F;
}

/** An unsigned LEB128 number: seven bits per byte, least significant first. */
function count(value: number): Code {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...count(value >>> 7)];
}

/** A signed LEB128 number: the top bit of the last group of seven is the sign. */
function signed(value: bigint): Code {
  const isLast = value >= -0x40n && value < 0x40n;
  const low = Number(value & 0x7fn);
  return isLast ? [low] : [low | 0x80, ...signed(value >> 7n)];
}

const sized = (code: Code): Code => [...count(code.length), ...code];
const section = (id: number, code: Code): Code => [id, ...sized(code)];
const name = (letter: string): Code => [1, letter.charCodeAt(0)];

// Node has `WebAssembly`; the type definitions in use do not.
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (
    module: object,
    imports: { m: { m: SharedMemory } },
  ) => { exports: { f: unknown } };
};
