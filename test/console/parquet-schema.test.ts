import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { footerBytesOf, readParquetSchema, TAIL_BYTES } from "../../console/parquet-schema.ts";
import { ARROW_PARQUET, PLAIN_PARQUET } from "./parquet-files.ts";

function footerOf(file: Buffer): Buffer {
  const bytes = footerBytesOf(file.subarray(-TAIL_BYTES));
  return file.subarray(-TAIL_BYTES - bytes, -TAIL_BYTES);
}

test("the columns of a file of Apache Arrow are shown as a tree", () => {
  const { rows, createdBy, columns } = readParquetSchema(footerOf(ARROW_PARQUET));
  assert.equal(rows, 2);
  assert.match(createdBy, /^parquet-rs version/);
  assert.deepEqual(
    columns.map(({ name, depth, type, repetition }) => [depth, name, type, repetition].join(" ")),
    [
      "0 id INT64 optional",
      "0 name BYTE_ARRAY (STRING) optional",
      "0 price DOUBLE optional",
      "0 ok BOOLEAN optional",
      "0 tags group (LIST) optional",
      "1 list group repeated",
      "2 item BYTE_ARRAY (STRING) optional",
      "0 at group optional",
      "1 lat DOUBLE required",
      "1 lon DOUBLE required",
      "0 day INT32 (DATE) optional",
      "0 when INT64 (TIMESTAMP) optional",
    ],
  );
});

test("the older names of types are understood", () => {
  const { rows, columns } = readParquetSchema(footerOf(PLAIN_PARQUET));
  assert.equal(rows, 3);
  assert.deepEqual(
    columns.map(({ name, type }) => `${name} ${type}`),
    ["id INT32", "name BYTE_ARRAY (UTF8)", "when INT64 (TIMESTAMP_MILLIS)"],
  );
});

test("other files and encrypted footers are refused in words", () => {
  assert.throws(() => footerBytesOf(Buffer.from("no table")), /no Parquet file/);
  assert.throws(() => footerBytesOf(Buffer.from("PAR1")), /no Parquet file/);
  assert.throws(() => footerBytesOf(Buffer.from("\0\0\0\0PARE")), /encrypted/);
});

test("a damaged footer is refused, wherever it is cut", () => {
  const footer = footerOf(ARROW_PARQUET);
  for (let bytes = 0; bytes < footer.length; bytes++) {
    assert.throws(() => readParquetSchema(footer.subarray(0, bytes)), /damaged/, `${bytes} bytes`);
  }
  // Lists within lists, deeper than any stack.
  assert.throws(() => readParquetSchema(Buffer.alloc(100_000, 0x19)), /damaged/);
});

test("no bytes make the reader fail in another way", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      try {
        readParquetSchema(bytes);
      } catch (error) {
        assert.match((error as Error).message, /damaged/);
      }
    }),
  );
});
