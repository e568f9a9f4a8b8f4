import type { Bytes } from "../../../base/bytes.ts";
import type { Instant } from "../../../base/clock.ts";
import { type FlatFields, type FlatValue, number, string, table, tables } from "./flat-buffer.ts";

/** A column of a table, and how to get its value from a row; null for no value. */
export type ArrowColumn<Row> = { readonly name: string } & (
  | { readonly type: "text"; of(row: Row): string | null }
  | { readonly type: "number"; of(row: Row): number | bigint | null }
  | { readonly type: "flag"; of(row: Row): boolean | null }
  /** In whole seconds. */
  | { readonly type: "time"; of(row: Row): Instant | null }
  | { readonly type: "map"; of(row: Row): TextMap | null }
);

type TextMap = readonly (readonly [name: string, value: string])[];

/** The values of a field, or of a nested field. */
export interface ArrowVector {
  readonly length: number;
  readonly nulls: number;
  /** In the order that the format defines for the type; the validity bitmap is first. */
  readonly buffers: readonly Bytes[];
  readonly children: readonly ArrowVector[];
}

/** Type numbers of the format. */
const INT = 2;
const UTF8 = 5;
const BOOL = 6;
const TIMESTAMP = 10;
const STRUCT = 13;
const MAP = 17;

const TYPES: Readonly<Record<ArrowColumn<never>["type"], readonly [number, FlatValue]>> = {
  text: [UTF8, table()],
  // 64 bits, unsigned.
  number: [INT, table(number(4, 64), number(1, 0))],
  flag: [BOOL, table()],
  // Seconds since 1970 in UTC.
  time: [TIMESTAMP, table(number(2, 0), string("UTC"))],
  map: [MAP, table(number(1, 0))],
};

/** Describes a column for the schema. */
export function fieldOf({ name, type }: ArrowColumn<never>): FlatFields {
  return field(name, true, TYPES[type], type === "map" ? [MAP_ENTRIES] : []);
}

function field(
  name: string,
  isNullable: boolean,
  [type, details]: readonly [number, FlatValue],
  children: readonly FlatFields[],
): FlatFields {
  const nullable = number(1, isNullable ? 1 : 0);
  return [string(name), nullable, number(1, type), details, null, tables(children)];
}

const MAP_ENTRIES = field(
  "entries",
  false,
  [STRUCT, table()],
  [field("key", false, TYPES.text, []), field("value", true, TYPES.text, [])],
);

export function vectorOf<Row>(column: ArrowColumn<Row>, rows: readonly Row[]): ArrowVector {
  switch (column.type) {
    case "text":
      return textVector(rows.map((row) => column.of(row)));
    case "number":
      return numberVector(rows.map((row) => column.of(row)));
    case "flag":
      return flagVector(rows.map((row) => column.of(row)));
    case "time":
      return numberVector(rows.map((row) => secondsOf(column.of(row))));
    case "map":
      return mapVector(rows.map((row) => column.of(row)));
  }
}

function secondsOf(time: Instant | null): number | null {
  return time === null ? null : Math.floor(time / 1_000);
}

function vector(
  values: readonly unknown[],
  buffers: readonly Bytes[],
  children: readonly ArrowVector[] = [],
): ArrowVector {
  const isThere = bitmap(values, (value) => value !== null);
  const nulls = values.reduce<number>((count, value) => count + (value === null ? 1 : 0), 0);
  return { length: values.length, nulls, buffers: [isThere, ...buffers], children };
}

function textVector(values: readonly (string | null)[]): ArrowVector {
  const offsets = offsetsOf(values, (value) => Buffer.byteLength(value, "utf8"));
  const bytes = Buffer.from(values.join(""), "utf8");
  return vector(values, [offsets, bytes]);
}

function numberVector(values: readonly (number | bigint | null)[]): ArrowVector {
  const bytes = Buffer.alloc(8 * values.length);
  for (const [row, value] of values.entries()) {
    if (value !== null) bytes.writeBigUInt64LE(BigInt(value), 8 * row);
  }
  return vector(values, [bytes]);
}

function flagVector(values: readonly (boolean | null)[]): ArrowVector {
  return vector(values, [bitmap(values, (value) => value === true)]);
}

/** Makes a list of pairs per row; the pairs of all rows are contiguous. */
function mapVector(values: readonly (TextMap | null)[]): ArrowVector {
  const pairs = values.flatMap((value) => value ?? []);
  const keys = textVector(pairs.map(([name]) => name));
  const texts = textVector(pairs.map(([, value]) => value));
  const entries = vector(pairs, [], [keys, texts]);
  return vector(values, [offsetsOf(values, (value) => value.length)], [entries]);
}

/** Returns the start of each row's part, and the end of the last. */
function offsetsOf<T>(values: readonly (T | null)[], lengthOf: (value: T) => number): Bytes {
  const offsets = Buffer.alloc(4 * (values.length + 1));
  let end = 0;
  for (const [row, value] of values.entries()) {
    if (value !== null) end += lengthOf(value);
    offsets.writeInt32LE(end, 4 * (row + 1));
  }
  return offsets;
}

/** One bit per row, lowest first. */
function bitmap<T>(values: readonly T[], isSet: (value: T) => boolean): Bytes {
  const bits = Buffer.alloc(Math.ceil(values.length / 8));
  for (const [row, value] of values.entries()) {
    const at = row >> 3;
    if (isSet(value)) bits[at] = (bits[at] as number) | (1 << (row & 7));
  }
  return bits;
}
