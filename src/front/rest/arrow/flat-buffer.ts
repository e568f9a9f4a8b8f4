import type { Bytes } from "../../../base/bytes.ts";

/**
 * The subset of FlatBuffers that Apache Arrow messages use: tables whose fields are numbers,
 * strings, tables, and vectors of tables or of pairs of 64-bit numbers.
 */
export type FlatValue =
  | { readonly kind: "number"; readonly bytes: 1 | 2 | 4 | 8; readonly value: number }
  | { readonly kind: "string"; readonly text: string }
  | { readonly kind: "table"; readonly fields: FlatFields }
  | { readonly kind: "tables"; readonly items: readonly FlatFields[] }
  | { readonly kind: "pairs"; readonly items: readonly (readonly [number, number])[] };

/** Values in the order of the schema's fields; null if left out. */
export type FlatFields = readonly (FlatValue | null)[];

export function number(bytes: 1 | 2 | 4 | 8, value: number): FlatValue {
  return { kind: "number", bytes, value };
}

export function string(text: string): FlatValue {
  return { kind: "string", text };
}

export function table(...fields: FlatFields): FlatValue {
  return { kind: "table", fields };
}

export function tables(items: readonly FlatFields[]): FlatValue {
  return { kind: "tables", items };
}

export function pairs(items: readonly (readonly [number, number])[]): FlatValue {
  return { kind: "pairs", items };
}

/** Encodes a buffer with this table as its root; its length is a multiple of 8. */
export function flatBuffer(root: FlatFields): Bytes {
  const writer = new FlatBufferWriter();
  const slot = writer.reserve(4, 4);
  writer.pointTo(slot, () => writer.writeTable(root));
  return writer.done();
}

/** Writes each value after its reference, as references point forward. */
class FlatBufferWriter {
  #bytes = Buffer.alloc(1_024);
  #end = 0;

  done(): Bytes {
    this.reserve(0, 8);
    return this.#bytes.subarray(0, this.#end);
  }

  /** Reserves zeroed bytes at the next aligned position. */
  reserve(bytes: number, alignment: number): number {
    const at = alignUp(this.#end, alignment);
    this.#end = at + bytes;
    if (this.#end > this.#bytes.length) {
      this.#bytes = Buffer.concat([this.#bytes, Buffer.alloc(this.#end)]);
    }
    return at;
  }

  /** Writes a reference, which is the distance to its target. */
  pointTo(slot: number, write: () => number): void {
    const at = write();
    this.#bytes.writeUInt32LE(at - slot, slot);
  }

  /** Writes a table. Its vtable, with the positions of the fields, comes first. */
  writeTable(fields: FlatFields): number {
    let size = 4;
    const offsets = fields.map((field) => {
      if (field === null) return 0;
      const bytes = field.kind === "number" ? field.bytes : 4;
      const offset = alignUp(size, bytes);
      size = offset + bytes;
      return offset;
    });
    const directory = this.reserve(4 + 2 * fields.length, 2);
    const at = this.reserve(size, 8);
    this.#bytes.writeUInt16LE(4 + 2 * fields.length, directory);
    this.#bytes.writeUInt16LE(size, directory + 2);
    this.#bytes.writeInt32LE(at - directory, at);
    for (const [index, offset] of offsets.entries()) {
      this.#bytes.writeUInt16LE(offset, directory + 4 + 2 * index);
    }
    for (const [index, field] of fields.entries()) {
      if (field !== null) this.#writeField(field, at + (offsets[index] as number));
    }
    return at;
  }

  #writeField(field: FlatValue, slot: number): void {
    if (field.kind !== "number") this.pointTo(slot, () => this.#writeReferred(field));
    else if (field.bytes === 8) this.#writeInt64(field.value, slot);
    else this.#bytes.writeIntLE(field.value, slot, field.bytes);
  }

  #writeReferred(field: Exclude<FlatValue, { kind: "number" }>): number {
    switch (field.kind) {
      case "string":
        return this.#writeString(field.text);
      case "table":
        return this.writeTable(field.fields);
      case "tables":
        return this.#writeTables(field.items);
      case "pairs":
        return this.#writePairs(field.items);
    }
  }

  #writeInt64(value: number, at: number): void {
    this.#bytes.writeBigInt64LE(BigInt(value), at);
  }

  #writeString(text: string): number {
    const bytes = Buffer.from(text, "utf8");
    // A terminating zero follows, which the length does not count.
    const at = this.reserve(4 + bytes.length + 1, 4);
    this.#bytes.writeUInt32LE(bytes.length, at);
    bytes.copy(this.#bytes, at + 4);
    return at;
  }

  #writeTables(items: readonly FlatFields[]): number {
    const at = this.reserve(4 + 4 * items.length, 4);
    this.#bytes.writeUInt32LE(items.length, at);
    for (const [index, item] of items.entries()) {
      this.pointTo(at + 4 + 4 * index, () => this.writeTable(item));
    }
    return at;
  }

  /** Aligns the items to 8 bytes, with the count right before them. */
  #writePairs(items: readonly (readonly [number, number])[]): number {
    const first = this.reserve(4, 4);
    const at = first % 8 === 4 ? first : this.reserve(4, 4);
    this.reserve(16 * items.length, 8);
    this.#bytes.writeUInt32LE(items.length, at);
    for (const [index, [one, other]] of items.entries()) {
      this.#writeInt64(one, at + 4 + 16 * index);
      this.#writeInt64(other, at + 12 + 16 * index);
    }
    return at;
  }
}

export function alignUp(value: number, alignment: number): number {
  return Math.ceil(value / alignment) * alignment;
}
