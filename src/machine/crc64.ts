import type { Bytes } from "../base/bytes.ts";
import { alignedBytes, alignedMemory, placeInAlignedMemory } from "./aligned-bytes.ts";
import { ByteFolding } from "./byte-folding.ts";
import {
  type Code,
  compile,
  get,
  I32,
  I32_ADD,
  I32_AND,
  I32_LE_U,
  I32_LT_U,
  I32_SHL,
  I32_SHR_U,
  I32_WRAP_I64,
  I64,
  I64_AND,
  I64_MUL,
  I64_NE,
  I64_SHL,
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
 * CRC-64/NVME, the checksum of `x-ms-content-crc64`: reflected, initial value and final XOR all
 * ones, written as eight bytes, least significant first.
 */
export class Crc64 {
  #state = ALL_ONES;

  update(bytes: Bytes): void {
    this.#state = crc64Remainder(bytes, this.#state);
  }

  /** Like `update`, with `bytes` bytes whose remainder was computed elsewhere. */
  append(remainder: bigint, bytes: number): void {
    this.#state = shift(this.#state, bytes) ^ remainder;
  }

  digest(): Bytes {
    const bytes = Buffer.allocUnsafe(8);
    bytes.writeBigInt64LE(~this.#state);
    return bytes;
  }
}

/** The remainder of these bytes, after others that have the remainder `before`. */
export function crc64Remainder(bytes: Bytes, before = 0n): bigint {
  const at = placeInAlignedMemory(bytes);
  return at === null ? throughWindow(bytes, before) : remainderAt(at, at + bytes.length, before);
}

/** Folds as many bytes as possible; the rest goes to the next folding, the last to the tables. */
function remainderAt(at: number, until: number, before: bigint, level = 0): bigint {
  const folding = foldings[level];
  if (folding === undefined) return advance(before, at, until);
  let [from, state] = [at, before];
  for (let bytes = folding.bytesOf(until - from); bytes > 0; ) {
    folding.fold(from, bytes, state);
    state = remainderAt(folding.restAt, folding.restUntil, 0n, level + 1);
    from += bytes;
    bytes = folding.bytesOf(until - from);
  }
  return remainderAt(from, until, state, level + 1);
}

function throughWindow(bytes: Bytes, before: bigint): bigint {
  let state = before;
  for (let from = 0; from < bytes.length; from += WINDOW_BYTES) {
    const part = bytes.subarray(from, from + WINDOW_BYTES);
    // `fill`, because `copy` is slow: it writes shared memory word by word.
    window.fill(part, 0, part.length);
    state = remainderAt(WINDOW_AT, WINDOW_AT + part.length, state);
  }
  return state;
}

export function crc64(bytes: Bytes): Bytes {
  const crc = new Crc64();
  crc.update(bytes);
  return crc.digest();
}

const POLYNOMIAL = 0x9a6c9329ac4bc9b5n;
const ALL_ONES = -1n;

/** Multiples of the polynomial, found by search. Those with fewer terms leave longer remainders. */
const foldings = [
  new ByteFolding([4498, 3925, 1750, 727, 355, 153, 0]),
  new ByteFolding([1104, 892, 787, 561, 551, 473, 232, 160, 0]),
];

// Tables handle what folding leaves, and what is too short for it. 64-bit arithmetic in JavaScript
// takes a BigInt per step, which is a hundred times too slow. So the loop is a WebAssembly
// function, assembled below. An iteration takes 16 bytes and looks up each of them in a table of
// its own: tables[k][b] is the checksum of byte b followed by k zero bytes. The function sees
// aligned memory only, where uploads are buffered. Its tables lie there, too, as does a window into
// which other bytes are copied.
const STRIDE_BYTES = 16;
const TABLE_BYTES = 256 * 8;
const WINDOW_BYTES = 32 * 1024;
const tables = alignedBytes(STRIDE_BYTES * TABLE_BYTES);
const window = alignedBytes(WINDOW_BYTES);
const TABLES_AT = placeInAlignedMemory(tables) as number;
const WINDOW_AT = placeInAlignedMemory(window) as number;

// The function's parameters, then its local variables: a word of eight bytes, and its halves.
const STATE = 0;
const AT = 1;
const UNTIL = 2;
const WORD = 3;
const LOW = 4;
const HIGH = 5;

const advanceBy = (bytes: number): Code => [...get(AT), ...i32(bytes), I32_ADD, ...set(AT)];

/** tables[table][byte number `byte` of a half], at an index times 8, the size of an entry. */
function lookUp(table: number, half: number, byte: number): Code {
  const toIndex = byte === 0 ? [...i32(3), I32_SHL] : [...i32(8 * byte - 3), I32_SHR_U];
  const index = [...get(half), ...toIndex, ...i32(0xff << 3), I32_AND];
  return [...index, ...loadWord(TABLES_AT + table * TABLE_BYTES)];
}

/** Looks up bytes `from` to `until` of WORD. Sums them as a tree, which is faster than a chain. */
function lookUpAll(lastTable: number, from: number, until: number): Code {
  if (until - from === 1) return lookUp(lastTable - from, from < 4 ? LOW : HIGH, from % 4);
  const middle = (from + until) / 2;
  return [...lookUpAll(lastTable, from, middle), ...lookUpAll(lastTable, middle, until), I64_XOR];
}

/** Splits WORD, because 32-bit operations have shorter instructions. */
const halve: Code = [
  ...[...get(WORD), I32_WRAP_I64, ...set(LOW)],
  ...[...get(WORD), ...i64(32n), I64_SHR_U, I32_WRAP_I64, ...set(HIGH)],
];

/** Takes 16 bytes. The second word comes first, because it does not depend on the state. */
const stride: Code = [
  ...[...get(AT), ...loadWord(8), ...set(WORD)],
  ...[...halve, ...lookUpAll(7, 0, 8)],
  ...[...get(AT), ...loadWord(0), ...get(STATE), I64_XOR, ...set(WORD)],
  ...[...halve, ...lookUpAll(15, 0, 8)],
  ...[I64_XOR, ...set(STATE)],
  ...advanceBy(STRIDE_BYTES),
];

const singleByte: Code = [
  ...[...get(AT), ...loadByte(0), ...get(STATE), I64_XOR, I32_WRAP_I64, ...set(LOW)],
  ...lookUp(0, LOW, 0),
  ...[...get(STATE), ...i64(8n), I64_SHR_U, I64_XOR, ...set(STATE)],
  ...advanceBy(1),
];

const advance = compile<(state: bigint, at: number, until: number) => bigint>(
  {
    parameters: [I64, I32, I32],
    results: [I64],
    locals: [I64, I32, I32],
    code: [
      ...whileTrue([...get(AT), ...i32(STRIDE_BYTES), I32_ADD, ...get(UNTIL), I32_LE_U], stride),
      ...whileTrue([...get(AT), ...get(UNTIL), I32_LT_U], singleByte),
      ...get(STATE),
    ],
  },
  alignedMemory,
);

// Appending zero bytes multiplies a remainder by a power of x. The CRC is reflected, so the most
// significant bit is the coefficient of x to the zeroth.
const FACTOR = 0;
const OTHER = 1;
const PRODUCT = 2;
const multiply = compile<(factor: bigint, other: bigint) => bigint>(
  {
    parameters: [I64, I64],
    results: [I64],
    locals: [I64],
    code: [
      ...whileTrue(
        [...get(FACTOR), ...i64(0n), I64_NE],
        [
          ...[...get(FACTOR), ...i64(63n), I64_SHR_U, ...get(OTHER), I64_MUL],
          ...[...get(PRODUCT), I64_XOR, ...set(PRODUCT)],
          ...[...get(FACTOR), ...i64(1n), I64_SHL, ...set(FACTOR)],
          ...[...get(OTHER), ...i64(1n), I64_AND, ...i64(POLYNOMIAL), I64_MUL],
          ...[...get(OTHER), ...i64(1n), I64_SHR_U, I64_XOR, ...set(OTHER)],
        ],
      ),
      ...get(PRODUCT),
    ],
  },
  alignedMemory,
);
/** The factors for 1, 2, 4, … zero bytes. */
const POWERS = [1n << BigInt(63 - 8)];
while (POWERS.length < 53) {
  const last = POWERS.at(-1) as bigint;
  POWERS.push(multiply(last, last));
}

/** The remainder after `bytes` more zero bytes. */
function shift(remainder: bigint, bytes: number): bigint {
  let shifted = remainder;
  for (let rest = bytes, at = 0; rest > 0; rest = Math.floor(rest / 2), at++) {
    if (rest % 2 === 1) shifted = multiply(shifted, POWERS[at] as bigint);
  }
  return shifted;
}

fillTables(new BigUint64Array(tables.buffer, TABLES_AT, tables.length / 8));

function fillTables(tables: BigUint64Array): void {
  for (let byte = 0; byte < 256; byte++) {
    let value = BigInt(byte);
    for (let bit = 0; bit < 8; bit++) {
      value = (value & 1n) === 0n ? value >> 1n : (value >> 1n) ^ POLYNOMIAL;
    }
    tables[byte] = value;
  }
  for (let at = 256; at < tables.length; at++) {
    const before = tables[at - 256] as bigint;
    tables[at] = (before >> 8n) ^ (tables[Number(before & 0xffn)] as bigint);
  }
}
