import type { Bytes } from "../../base/bytes.ts";

/** The number that PostgreSQL gives to the type bytea, in every database. */
const BYTEA_OID = 17;
const HEADER_BYTES = 20;
const NULL_LENGTH = -1;

/** A parameter of type `bytea[]` in PostgreSQL's binary format: a third of the CPU of text. */
export function byteaArray(items: readonly (Bytes | null)[]): Bytes {
  if (items.length === 0) return EMPTY_ARRAY;
  let size = HEADER_BYTES;
  for (const item of items) size += 4 + (item?.length ?? 0);
  const bytes = Buffer.allocUnsafe(size);
  bytes.writeInt32BE(1, 0);
  bytes.writeInt32BE(items.includes(null) ? 1 : 0, 4);
  bytes.writeInt32BE(BYTEA_OID, 8);
  bytes.writeInt32BE(items.length, 12);
  bytes.writeInt32BE(1, 16);
  let at = HEADER_BYTES;
  for (const item of items) {
    at = bytes.writeInt32BE(item?.length ?? NULL_LENGTH, at);
    if (item !== null) at += item.copy(bytes, at);
  }
  return bytes;
}

/** An array without dimensions. */
const EMPTY_ARRAY = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, BYTEA_OID]);

/** Reads a bytea from its text format, `\x` and hexadecimal digits. */
export function readBytea(text: string): Bytes {
  return Buffer.from(text.slice(2), "hex");
}
