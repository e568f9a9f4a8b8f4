import type { Bytes } from "../../../base/bytes.ts";
import { LIST_BYTES_MAX } from "../../../base/limits.ts";
import type { ResponseBody } from "../http/exchange.ts";
import { bodyOfPieces } from "../pieces-body.ts";
import { type ArrowColumn, type ArrowVector, fieldOf, vectorOf } from "./arrow-columns.ts";
import {
  alignUp,
  type FlatFields,
  type FlatValue,
  flatBuffer,
  number,
  pairs,
  string,
  tables,
} from "./flat-buffer.ts";

export const ARROW_TYPE = "application/vnd.apache.arrow.stream";

/** Version 5 of the format's metadata. */
const METADATA_V5 = 4;
const SCHEMA = 1;
const RECORD_BATCH = 3;
const ALIGNMENT = 8;
const CONTINUATION = 0xffffffff;

/** Encodes a table as an Apache Arrow stream: its schema, then rows in batches. */
export class ArrowStream<Row> {
  readonly #columns: readonly ArrowColumn<Row>[];
  readonly #batches: Bytes[] = [];
  #rows = 0;
  #bytes = 0;

  constructor(columns: readonly ArrowColumn<Row>[]) {
    this.#columns = columns;
  }

  get rows(): number {
    return this.#rows;
  }

  /** The bytes of all rows so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether a list should end here and leave the rest to the next request. */
  get isFull(): boolean {
    return this.#bytes >= LIST_BYTES_MAX;
  }

  add(rows: readonly Row[]): void {
    if (rows.length === 0) return;
    this.#rows += rows.length;
    const vectors = this.#columns.map((column) => vectorOf(column, rows));
    const batch = batchMessage(rows.length, vectors);
    this.#bytes += batch.length;
    this.#batches.push(batch);
  }

  /** Returns the body. The schema comes first, but its metadata is known last. */
  done(metadata: readonly (readonly [name: string, value: string])[]): ResponseBody {
    const fields = tables(this.#columns.map(fieldOf));
    const said = tables(metadata.map(([name, value]) => [string(name), string(value)]));
    const schema = message(SCHEMA, [number(2, 0), fields, said], []);
    return bodyOfPieces([schema, ...this.#batches, END]);
  }
}

/** Marks the end of the stream. */
const END = prefix(0);

function batchMessage(rows: number, vectors: readonly ArrowVector[]): Bytes {
  const nodes: [number, number][] = [];
  const places: [number, number][] = [];
  const body: Bytes[] = [];
  let end = 0;
  const add = ({ length, nulls, buffers, children }: ArrowVector) => {
    nodes.push([length, nulls]);
    for (const buffer of buffers) {
      places.push([end, buffer.length]);
      const padded = alignUp(buffer.length, ALIGNMENT);
      body.push(buffer, Buffer.alloc(padded - buffer.length));
      end += padded;
    }
    for (const child of children) add(child);
  };
  for (const vector of vectors) add(vector);
  return message(RECORD_BATCH, [number(8, rows), pairs(nodes), pairs(places)], body);
}

/** Encodes a message: prefix, header and body, each aligned to 8 bytes. */
function message(kind: number, fields: FlatFields, body: readonly Bytes[]): Bytes {
  const header: FlatValue = { kind: "table", fields };
  const length = body.reduce((sum, part) => sum + part.length, 0);
  const head = flatBuffer([number(2, METADATA_V5), number(1, kind), header, number(8, length)]);
  return Buffer.concat([prefix(head.length), head, ...body]);
}

function prefix(length: number): Bytes {
  const bytes = Buffer.alloc(ALIGNMENT);
  bytes.writeUInt32LE(CONTINUATION);
  bytes.writeUInt32LE(length, 4);
  return bytes;
}
