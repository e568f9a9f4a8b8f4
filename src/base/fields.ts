import type { Bytes } from "./bytes.ts";

/**
 * How values become the bytes of a record and come back. A record is described once, as a list of
 * fields; writing and reading both follow it. Fields are only ever added at the end, with a default
 * for the records written before: what must change otherwise gets a new format number.
 */
export interface Field<T> {
  write(to: FieldWriter, value: T): void;
  read(from: FieldReader): T;
  /** What an older record, written before this field existed, is taken to hold. */
  readonly otherwise?: T;
}

type Shape = Record<string, Field<unknown>>;
export type ValueOf<F> = F extends Field<infer T> ? T : never;
export type RecordOf<S extends Shape> = { -readonly [K in keyof S]: ValueOf<S[K]> };

/** A kind of record: its format number comes first, its fields follow in the order of the shape. */
export interface Format<T> {
  encode(value: T): Bytes;
  decode(bytes: Bytes): T;
}

export function format<S extends Shape>(number: number, shape: S): Format<RecordOf<S>> {
  const fields = struct(shape);
  return {
    encode(value) {
      const to = WRITER;
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
  const entries = Object.entries(shape);
  return {
    write(to, value) {
      for (const [name, field] of entries) field.write(to, value[name]);
    },
    read(from) {
      const value: Record<string, unknown> = {};
      for (const [name, field] of entries) {
        if (from.atEnd() && "otherwise" in field) value[name] = field.otherwise;
        else value[name] = field.read(from);
      }
      return value as RecordOf<S>;
    },
  };
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

/** A text of any UTF-16 units, halves of surrogate pairs too, which UTF-8 cannot carry. */
export const units: Field<string> = {
  write: (to, value) => to.bytes(Buffer.from(value, "utf16le")),
  read: (from) => from.bytes().toString("utf16le"),
};

export const bytes: Field<Bytes> = {
  write: (to, value) => to.bytes(value),
  read: (from) => from.bytes(),
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

/** Metadata and the like: names with values, in their order. */
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

/** Writes one record after the other into the same room; each is copied out of it when it is done. */
class FieldWriter {
  readonly #room: Bytes = Buffer.allocUnsafeSlow(ROOM_BYTES);
  #bytes = this.#room;
  #at = 0;

  begin(number: number): void {
    this.#bytes = this.#room;
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
    this.#need(8);
    this.#at = this.#bytes.writeBigUInt64LE(value, this.#at);
  }

  text(value: string): void {
    // Most texts are empty, and to measure one costs more than all the rest.
    const length = value === "" ? 0 : Buffer.byteLength(value, "utf8");
    this.count(length);
    if (length === 0) return;
    this.#need(length);
    this.#at += this.#bytes.write(value, this.#at, length, "utf8");
  }

  bytes(value: Bytes): void {
    this.count(value.length);
    this.#need(value.length);
    this.#at += value.copy(this.#bytes, this.#at);
  }

  done(): Bytes {
    const record = Buffer.allocUnsafe(this.#at);
    this.#bytes.copy(record, 0, 0, this.#at);
    return record;
  }

  #need(more: number): void {
    if (this.#at + more <= this.#bytes.length) return;
    const wider = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#at + more));
    this.#bytes.copy(wider, 0, 0, this.#at);
    this.#bytes = wider;
  }
}

const WRITER = new FieldWriter();

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
    const value = this.#bytes.readBigUInt64LE(this.#at);
    this.#at += 8;
    return value;
  }

  text(): string {
    const length = this.count();
    if (length === 0) return "";
    const end = this.#to(length);
    return this.#bytes.toString("utf8", end - length, end);
  }

  /** The bytes themselves, not a copy: they keep the record in memory that they were read from. */
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
