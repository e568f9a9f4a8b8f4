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
 * CRC-64/NVME, the checksum of `x-ms-content-crc64`: reflected, all ones before and after, spelled
 * as eight bytes, least significant first.
 */
export class Crc64 {
  #state = ALL_ONES;

  update(bytes: Bytes): void {
    this.#state = crc64Remainder(bytes, this.#state);
  }

  /** As `update` does with so many bytes, of which somebody else has found the remainder. */
  append(remainder: bigint, bytes: number): void {
    this.#state = shift(this.#state, bytes) ^ remainder;
  }

  digest(): Bytes {
    const bytes = Buffer.allocUnsafe(8);
    bytes.writeBigInt64LE(~this.#state);
    return bytes;
  }
}

/** Of these bytes alone, or behind others that left the remainder `before`. */
export function crc64Remainder(bytes: Bytes, before = 0n): bigint {
  const at = placeInAlignedMemory(bytes);
  return at === null ? throughWindow(bytes, before) : remainderAt(at, at + bytes.length, before);
}

/** What can be folded is; what is left of that goes on with the next folding, and last to the tables. */
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
    // Into shared memory `copy` would go word by word.
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

/** Multiples of the polynomial, found by search: the fewer terms they have, the more they leave. */
const foldings = [
  new ByteFolding([4498, 3925, 1750, 727, 355, 153, 0]),
  new ByteFolding([1104, 892, 787, 561, 551, 473, 232, 160, 0]),
];

// What is left of folding, or too short for it, goes through tables. 64-bit arithmetic in JavaScript
// means a BigInt per step, a hundred times too slow. So the loop is a WebAssembly function, put
// together below. It takes 16 bytes per turn and looks each of them up in a table of its own:
// tables[k][b] is the checksum of byte b followed by k zero bytes.
// It sees aligned memory only, where bodies lie that are on their way to the disk. Its tables are
// there, too, and a window through which other bytes pass.
const STRIDE_BYTES = 16;
const TABLE_BYTES = 256 * 8;
const WINDOW_BYTES = 32 * 1024;
const tables = alignedBytes(STRIDE_BYTES * TABLE_BYTES);
const window = alignedBytes(WINDOW_BYTES);
const TABLES_AT = placeInAlignedMemory(tables) as number;
const WINDOW_AT = placeInAlignedMemory(window) as number;

// The function's parameters, and local variables behind them: eight bytes, and the halves of them.
const STATE = 0;
const AT = 1;
const UNTIL = 2;
const WORD = 3;
const LOW = 4;
const HIGH = 5;

const advanceBy = (bytes: number): Code => [...get(AT), ...i32(bytes), I32_ADD, ...set(AT)];

/** tables[table][byte number `byte` of a half]; an entry has 8 bytes, hence the three bits. */
function lookUp(table: number, half: number, byte: number): Code {
  const toIndex = byte === 0 ? [...i32(3), I32_SHL] : [...i32(8 * byte - 3), I32_SHR_U];
  const index = [...get(half), ...toIndex, ...i32(0xff << 3), I32_AND];
  return [...index, ...loadWord(TABLES_AT + table * TABLE_BYTES)];
}

/** Looks up bytes `from` to `until` of WORD; summed as a tree, since one chain would be slower. */
function lookUpAll(lastTable: number, from: number, until: number): Code {
  if (until - from === 1) return lookUp(lastTable - from, from < 4 ? LOW : HIGH, from % 4);
  const middle = (from + until) / 2;
  return [...lookUpAll(lastTable, from, middle), ...lookUpAll(lastTable, middle, until), I64_XOR];
}

/** Takes WORD apart: numbers of 32 bits make for shorter instructions. */
const halve: Code = [
  ...[...get(WORD), I32_WRAP_I64, ...set(LOW)],
  ...[...get(WORD), ...i64(32n), I64_SHR_U, I32_WRAP_I64, ...set(HIGH)],
];

/** 16 bytes. The second word comes first: it does not wait for the state. */
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

// A remainder behind which so many zeros come is multiplied by a power of x. As a checksum is
// reflected, its first bit is that of x to the zeroth.
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
/** For as many zero bytes as 1, 2, 4, … */
const POWERS = [1n << BigInt(63 - 8)];
while (POWERS.length < 53) {
  const last = POWERS.at(-1) as bigint;
  POWERS.push(multiply(last, last));
}

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
