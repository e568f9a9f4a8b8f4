import type { Bytes } from "./bytes.ts";
import { eightBytes } from "./eight-bytes.ts";

/**
 * Serializes values to the bytes of a record, and back. A record is described once, as a list of
 * fields; writing and reading both follow it. Fields are only added at the end, with a default for
 * older records. Any other change needs a new format number.
 */
export interface Field<T> {
  write(to: FieldWriter, value: T): void;
  read(from: FieldReader): T;
  /** The value for older records, written before this field existed. */
  readonly otherwise?: T;
}

type Shape = Record<string, Field<unknown>>;
export type ValueOf<F> = F extends Field<infer T> ? T : never;
export type RecordOf<S extends Shape> = { -readonly [K in keyof S]: ValueOf<S[K]> };

/** The format of a kind of record: its format number first, then its fields in order. */
export interface Format<T> {
  encode(value: T): Bytes;
  decode(bytes: Bytes): T;
}

export function format<S extends Shape>(number: number, shape: S): Format<RecordOf<S>> {
  const fields = struct(shape);
  return {
    encode(value) {
      writer ??= new FieldWriter();
      const to = writer;
      to.begin(number);
      fields.write(to, value);
      return to.done();
    },
    decode(bytes) {
      const from = new FieldReader(bytes);
      const found = from.u8();
      if (found !== number) throw new RangeError(`record format ${found}, expected ${number}`);
      return fields.read(from);
    },
  };
}

/** Several fields as one value. */
export function struct<S extends Shape>(shape: S): Field<RecordOf<S>> {
  return compiled(Object.entries(shape)) as Field<RecordOf<S>>;
}

/**
 * Generates code for each kind of record, as if it were written by hand. V8 could not optimize one
 * loop over the fields of all kinds.
 */
function compiled(entries: readonly (readonly [string, Field<unknown>])[]): Field<object> {
  const writes = entries.map(([name], at) => `fields[${at}].write(to, value.${name});`);
  const reads = entries.map(([name, field], at) => {
    const read = `fields[${at}].read(from)`;
    return "otherwise" in field
      ? `${name}: from.atEnd() ? fields[${at}].otherwise : ${read}`
      : `${name}: ${read}`;
  });
  const code = `return {
    write(to, value) { ${writes.join(" ")} },
    read(from) { return { ${reads.join(", ")} }; },
  };`;
  return new Function("fields", code)(entries.map(([, field]) => field));
}

/** A field that older records do not have. */
export function added<T>(field: Field<T>, otherwise: T): Field<T> {
  return { write: field.write, read: field.read, otherwise };
}

/** A whole number from 0 to 2^53. */
export const count: Field<number> = {
  write: (to, value) => to.count(value),
  read: (from) => from.count(),
};

/** A stamp or another unsigned 64-bit number. */
export const u64: Field<bigint> = {
  write: (to, value) => to.u64(value),
  read: (from) => from.u64(),
};

export const flag: Field<boolean> = {
  write: (to, value) => to.u8(value ? 1 : 0),
  read: (from) => from.u8() !== 0,
};

export const text: Field<string> = {
  write: (to, value) => to.text(value),
  read: (from) => from.text(),
};

/** A text of any UTF-16 units, also halves of surrogate pairs, which UTF-8 cannot encode. */
export const units: Field<string> = {
  write: (to, value) => to.units(value),
  read: (from) => from.bytes().toString("utf16le"),
};

export const bytes: Field<Bytes> = {
  write: (to, value) => to.bytes(value),
  read: (from) => from.bytes(),
};

/** The last field: all bytes up to the end of the record, to which more can be appended. */
export const rest: Field<Bytes> = {
  write: (to, value) => to.rest(value),
  read: (from) => from.rest(),
};

export function orNull<T>(field: Field<T>): Field<T | null> {
  return {
    write(to, value) {
      to.u8(value === null ? 0 : 1);
      if (value !== null) field.write(to, value);
    },
    read: (from) => (from.u8() === 0 ? null : field.read(from)),
  };
}

export function listOf<T>(field: Field<T>): Field<readonly T[]> {
  return {
    write(to, values) {
      to.count(values.length);
      for (const value of values) field.write(to, value);
    },
    read(from) {
      const values: T[] = new Array(from.count());
      for (let at = 0; at < values.length; at++) values[at] = field.read(from);
      return values;
    },
  };
}

/** Names with values, in their order, such as metadata. */
export const pairs: Field<readonly (readonly [string, string])[]> = {
  write(to, values) {
    to.count(values.length);
    for (const [name, value] of values) {
      to.text(name);
      to.text(value);
    }
  },
  read(from) {
    const values: [string, string][] = new Array(from.count());
    for (let at = 0; at < values.length; at++) values[at] = [from.text(), from.text()];
    return values;
  },
};

/** Stands for `pairs` in a shape for readers that need none of them. It cannot be written. */
export const skippedPairs: Field<null> = {
  write() {
    throw new Error("pairs that were skipped cannot be written");
  },
  read(from) {
    for (let texts = 2 * from.count(); texts > 0; texts--) from.skip();
    return null;
  },
};

/** One of a few words. New words go to the end of the list. */
export function oneOf<const W extends string>(...words: W[]): Field<W> {
  return {
    write(to, value) {
      const number = words.indexOf(value);
      if (number < 0) throw new RangeError(`${value} is not one of ${words}`);
      to.u8(number);
    },
    read(from) {
      const word = words[from.u8()];
      if (word === undefined) throw new RangeError("unknown word in a record");
      return word;
    },
  };
}

/** Enough for nearly every record. */
const ROOM_BYTES = 64 * 1024;
const LOOPED_CHARS_MAX = 64;
const COPIED_BYTES_MAX = 256;
const SHELF_BYTES = 64 * 1024;
const SHELVED_BYTES_MAX = SHELF_BYTES / 4;
const U64_MAX = 2n ** 64n - 1n;

/** Writes one record at a time into a reused buffer, and copies it out when it is done. */
class FieldWriter {
  readonly #room = roomOf(ROOM_BYTES);
  #bytes = this.#room.bytes;
  #view = this.#room.view;
  #at = 0;
  #shelf = Buffer.allocUnsafeSlow(SHELF_BYTES);
  #shelfUsed = 0;

  begin(number: number): void {
    this.#bytes = this.#room.bytes;
    this.#view = this.#room.view;
    this.#bytes[0] = number;
    this.#at = 1;
  }

  u8(value: number): void {
    this.#need(1);
    this.#bytes[this.#at++] = value;
  }

  count(value: number): void {
    if (value < 0 || !Number.isSafeInteger(value)) throw new RangeError(`${value} is no count`);
    this.#need(8);
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes[this.#at++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes[this.#at++] = rest;
  }

  u64(value: bigint): void {
    if (value < 0n || value > U64_MAX) throw new RangeError(`${value} does not fit into 64 bits`);
    this.#need(8);
    this.#view.setBigUint64(this.#at, value, true);
    this.#at += 8;
  }

  /** Uses a loop for short ASCII texts, which is cheaper than a call of a native method. */
  text(value: string): void {
    if (value.length > LOOPED_CHARS_MAX || !this.#plainText(value)) {
      const length = Buffer.byteLength(value, "utf8");
      this.count(length);
      this.#need(length);
      this.#at += this.#bytes.write(value, this.#at, length, "utf8");
    }
  }

  units(value: string): void {
    this.count(value.length * 2);
    this.#need(value.length * 2);
    for (let index = 0; index < value.length; index++) {
      this.#view.setUint16(this.#at, value.charCodeAt(index), true);
      this.#at += 2;
    }
  }

  bytes(value: Bytes): void {
    this.count(value.length);
    this.rest(value);
  }

  rest(value: Bytes): void {
    this.#need(value.length);
    // `fill` is faster than `copy`, which copies word by word from shared memory.
    if (value.length > COPIED_BYTES_MAX) this.#bytes.fill(value, this.#at, this.#at + value.length);
    else value.copy(this.#bytes, this.#at);
    this.#at += value.length;
  }

  done(): Bytes {
    const record = this.#placeFor(this.#at);
    this.#bytes.copy(record, 0, 0, this.#at);
    return record;
  }

  /** Allocates small records from a shared buffer, which spares the garbage collector. */
  #placeFor(size: number): Bytes {
    if (size > SHELVED_BYTES_MAX) return Buffer.allocUnsafeSlow(size);
    if (this.#shelfUsed + size > SHELF_BYTES) {
      this.#shelf = Buffer.allocUnsafeSlow(SHELF_BYTES);
      this.#shelfUsed = 0;
    }
    const start = this.#shelfUsed;
    this.#shelfUsed += size;
    return this.#shelf.subarray(start, this.#shelfUsed);
  }

  /** Writes an ASCII text. False, with nothing written, if a character takes more than a byte. */
  #plainText(value: string): boolean {
    const start = this.#at;
    this.count(value.length);
    this.#need(value.length);
    for (let index = 0; index < value.length; index++) {
      const char = value.charCodeAt(index);
      if (char >= 0x80) {
        this.#at = start;
        return false;
      }
      this.#bytes[this.#at++] = char;
    }
    return true;
  }

  #need(more: number): void {
    if (this.#at + more <= this.#bytes.length) return;
    const wider = roomOf(Math.max(this.#bytes.length * 2, this.#at + more));
    this.#bytes.copy(wider.bytes, 0, 0, this.#at);
    this.#bytes = wider.bytes;
    this.#view = wider.view;
  }
}

/** V8 compiles a DataView's methods to a few instructions, but not those of a Buffer. */
function roomOf(size: number): { readonly bytes: Bytes; readonly view: DataView } {
  const bytes = Buffer.allocUnsafeSlow(size);
  return { bytes, view: new DataView(bytes.buffer) };
}

/** Made at the first use, because importing this module allocates nothing. */
let writer: FieldWriter | null = null;

export class FieldReader {
  readonly #bytes: Bytes;
  #at = 0;

  constructor(bytes: Bytes) {
    this.#bytes = bytes;
  }

  atEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  u8(): number {
    const value = this.#bytes[this.#at];
    if (value === undefined) throw new RangeError("a record ends too early");
    this.#at++;
    return value;
  }

  count(): number {
    let value = 0;
    for (let unit = 1; ; unit *= 0x80) {
      const byte = this.u8();
      value += (byte & 0x7f) * unit;
      if (byte < 0x80) return value;
    }
  }

  u64(): bigint {
    const start = this.#to(8) - 8;
    const eight = eightBytes();
    for (let index = 0; index < 8; index++) {
      eight.bytes[index] = this.#bytes[start + index] as number;
    }
    return eight.view.getBigUint64(0, true);
  }

  rest(): Bytes {
    const start = this.#at;
    this.#at = this.#bytes.length;
    return this.#bytes.subarray(start);
  }

  text(): string {
    const length = this.count();
    if (length === 0) return "";
    const end = this.#to(length);
    return this.#bytes.toString("utf8", end - length, end);
  }

  /** Passes a text or bytes without decoding them. */
  skip(): void {
    this.#to(this.count());
  }

  /** Returns a view, not a copy, which keeps the whole record in memory. */
  bytes(): Bytes {
    const length = this.count();
    const end = this.#to(length);
    return this.#bytes.subarray(end - length, end);
  }

  #to(length: number): number {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new RangeError("a record ends too early");
    this.#at = end;
    return end;
  }
}
