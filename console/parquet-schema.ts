/** What the end of a Parquet file says of its columns. */
export interface ParquetSchema {
  readonly rows: number;
  /** The program that wrote it; "" if it does not say. */
  readonly createdBy: string;
  readonly columns: readonly ParquetColumn[];
}

export interface ParquetColumn {
  readonly name: string;
  /** 0 for a column of the table, more for what is in a group. */
  readonly depth: number;
  /** `INT64 (TIMESTAMP)`, or `group (LIST)`. */
  readonly type: string;
  readonly repetition: "required" | "optional" | "repeated";
}

/** The length of the footer and the mark behind it. */
export const TAIL_BYTES = 8;

const MARK = "PAR1";
const ENCRYPTED_MARK = "PARE";
const DEPTH_MAX = 64;

const PHYSICAL = [
  ...["BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY"],
  "FIXED_LEN_BYTE_ARRAY",
];
const CONVERTED = [
  ...["UTF8", "MAP", "MAP_KEY_VALUE", "LIST", "ENUM", "DECIMAL", "DATE", "TIME_MILLIS"],
  ...["TIME_MICROS", "TIMESTAMP_MILLIS", "TIMESTAMP_MICROS", "UINT_8", "UINT_16", "UINT_32"],
  ...["UINT_64", "INT_8", "INT_16", "INT_32", "INT_64", "JSON", "BSON", "INTERVAL"],
];
/** By the number of the field in the union. */
const LOGICAL: Readonly<Record<number, string>> = {
  ...{ 1: "STRING", 2: "MAP", 3: "LIST", 4: "ENUM", 5: "DECIMAL", 6: "DATE", 7: "TIME" },
  ...{ 8: "TIMESTAMP", 10: "INTEGER", 11: "UNKNOWN", 12: "JSON", 13: "BSON", 14: "UUID" },
  ...{ 15: "FLOAT16", 16: "VARIANT", 17: "GEOMETRY", 18: "GEOGRAPHY" },
};
const REPETITIONS = ["required", "optional", "repeated"] as const;

/** The bytes of the footer, by the last 8 of a file. Throws an error that says what is wrong. */
export function footerBytesOf(tail: Uint8Array): number {
  const mark = String.fromCharCode(...tail.subarray(4, TAIL_BYTES));
  if (mark === ENCRYPTED_MARK) {
    throw new Error("The footer of this Parquet file is encrypted, so its schema cannot be shown.");
  }
  if (tail.length !== TAIL_BYTES || mark !== MARK) {
    throw new Error("This is no Parquet file, or not all of it: it does not end with PAR1.");
  }
  return new DataView(tail.buffer, tail.byteOffset).getUint32(0, true);
}

/** Reads the schema out of the footer. Throws an error that says what is wrong. */
export function readParquetSchema(footer: Uint8Array): ParquetSchema {
  const reader = new CompactReader(footer);
  let elements: Element[] = [];
  let rows = 0;
  let createdBy = "";
  reader.struct((id, type) => {
    if (id === 2 && type === TYPE.list) elements = reader.list(() => readElement(reader));
    else if (id === 3 && type === TYPE.i64) rows = reader.integer();
    else if (id === 6 && type === TYPE.binary) createdBy = reader.text();
    else reader.skip(type);
  });
  return { rows, createdBy, columns: columnsOf(elements) };
}

interface Element {
  physical: number | null;
  repetition: number;
  name: string;
  children: number;
  /** The type that users mean; "" if it is the physical one. */
  meaning: string;
  precision: number | null;
  scale: number;
}

function readElement(reader: CompactReader): Element {
  const element: Element = {
    ...{ physical: null, repetition: 0, name: "", children: 0 },
    ...{ meaning: "", precision: null, scale: 0 },
  };
  reader.struct((id, type) => {
    if (id === 1) element.physical = reader.integer();
    else if (id === 3) element.repetition = reader.integer();
    else if (id === 4) element.name = reader.text();
    else if (id === 5) element.children = reader.integer();
    else if (id === 6) element.meaning ||= CONVERTED[reader.integer()] ?? "";
    else if (id === 7) element.scale = reader.integer();
    else if (id === 8) element.precision = reader.integer();
    else if (id === 10 && type === TYPE.struct) element.meaning = readLogical(reader);
    else reader.skip(type);
  });
  return element;
}

function readLogical(reader: CompactReader): string {
  let meaning = "";
  reader.struct((id, type) => {
    meaning = LOGICAL[id] ?? "";
    reader.skip(type);
  });
  return meaning;
}

/** The schema is a tree, written from its root in depth-first order. */
function columnsOf(elements: readonly Element[]): ParquetColumn[] {
  /** How many children of each open group are still to come. */
  const open: number[] = [];
  const columns: ParquetColumn[] = [];
  for (const [at, element] of elements.entries()) {
    if (at > 0) {
      const depth = open.length - 1;
      const repetition = REPETITIONS[element.repetition] ?? "required";
      columns.push({ name: element.name, depth, type: typeText(element), repetition });
      open[depth] = (open[depth] ?? 1) - 1;
    }
    if (element.children > 0) open.push(element.children);
    while (open.at(-1) === 0) open.pop();
  }
  return columns;
}

function typeText({ physical, children, meaning, precision, scale }: Element): string {
  const kind = children > 0 || physical === null ? "group" : (PHYSICAL[physical] ?? "unknown");
  const digits = meaning === "DECIMAL" && precision !== null ? ` ${precision}, ${scale}` : "";
  return meaning === "" ? kind : `${kind} (${meaning}${digits})`;
}

const TYPE = {
  ...{ true: 1, false: 2, byte: 3, i16: 4, i32: 5, i64: 6, double: 7, binary: 8 },
  ...{ list: 9, set: 10, map: 11, struct: 12, uuid: 13 },
} as const;

/** Reads Thrift's compact protocol, as far as a footer of Parquet uses it. */
class CompactReader {
  readonly #bytes: Uint8Array;
  #at = 0;
  #depth = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** Calls `take` for each field, which must read or skip its value. */
  struct(take: (id: number, type: number) => void): void {
    for (let id = 0; ; ) {
      const head = this.#byte();
      if (head === 0) break;
      const delta = head >> 4;
      id = delta === 0 ? this.integer() : id + delta;
      take(id, head & 0x0f);
    }
  }

  list<T>(read: () => T): T[] {
    const { length, type } = this.#listHead();
    if (type !== TYPE.struct) throw damaged();
    return Array.from({ length }, read);
  }

  /** A whole number of any width. Larger ones than 2^53 are not exact. */
  integer(): number {
    const value = this.#varint();
    return Number((value >> 1n) ^ -(value & 1n));
  }

  text(): string {
    return new TextDecoder().decode(this.#take(Number(this.#varint())));
  }

  /** Skips the value of a field. */
  skip(type: number): void {
    if (type === TYPE.true || type === TYPE.false) return;
    if (++this.#depth > DEPTH_MAX) throw damaged();
    this.#skipValue(type);
    this.#depth--;
  }

  /** Booleans take a byte in lists and maps. */
  #skipValue(type: number): void {
    switch (type) {
      case TYPE.true:
      case TYPE.false:
      case TYPE.byte:
        this.#take(1);
        return;
      case TYPE.i16:
      case TYPE.i32:
      case TYPE.i64:
        this.#varint();
        return;
      case TYPE.double:
        this.#take(8);
        return;
      case TYPE.binary:
        this.#take(Number(this.#varint()));
        return;
      case TYPE.uuid:
        this.#take(16);
        return;
      case TYPE.struct:
        this.struct((_, inner) => this.skip(inner));
        return;
      case TYPE.list:
      case TYPE.set: {
        const { length, type: inner } = this.#listHead();
        this.#skipItems(length, [inner]);
        return;
      }
      case TYPE.map:
        this.#skipMap();
        return;
      default:
        throw damaged();
    }
  }

  #skipMap(): void {
    const length = Number(this.#varint());
    if (length === 0) return;
    const types = this.#byte();
    this.#skipItems(length, [types >> 4, types & 0x0f]);
  }

  #skipItems(count: number, types: readonly number[]): void {
    if (++this.#depth > DEPTH_MAX) throw damaged();
    for (let at = 0; at < count; at++) for (const type of types) this.#skipValue(type);
    this.#depth--;
  }

  #listHead(): { length: number; type: number } {
    const head = this.#byte();
    const short = head >> 4;
    const length = short === 15 ? Number(this.#varint()) : short;
    // Each element takes a byte or more.
    if (length > this.#bytes.length - this.#at) throw damaged();
    return { length, type: head & 0x0f };
  }

  #varint(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 64n; shift += 7n) {
      const byte = this.#byte();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw damaged();
  }

  #byte(): number {
    const [byte] = this.#take(1);
    return byte as number;
  }

  #take(count: number): Uint8Array {
    const from = this.#at;
    if (count > this.#bytes.length - from) throw damaged();
    this.#at += count;
    return this.#bytes.subarray(from, this.#at);
  }
}

function damaged(): Error {
  return new Error("The footer of this Parquet file is damaged: its schema cannot be read.");
}
