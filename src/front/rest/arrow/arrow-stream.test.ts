import assert from "node:assert/strict";
import { test } from "node:test";
import { tableFromIPC } from "apache-arrow";
import fc from "fast-check";
import type { Bytes } from "../../../base/bytes.ts";
import type { ArrowColumn } from "./arrow-columns.ts";
import { ArrowStream } from "./arrow-stream.ts";

interface Row {
  readonly text: string | null;
  readonly number: number | bigint | null;
  readonly flag: boolean | null;
  readonly time: number | null;
  readonly map: readonly (readonly [string, string])[] | null;
}

const COLUMNS: readonly ArrowColumn<Row>[] = [
  { name: "a-text", type: "text", of: ({ text }) => text },
  { name: "a-number", type: "number", of: ({ number }) => number },
  { name: "a-flag", type: "flag", of: ({ flag }) => flag },
  { name: "a-time", type: "time", of: ({ time }) => time },
  { name: "a-map", type: "map", of: ({ map }) => map },
];

/** Encodes a stream that is short enough to be one piece. */
function encoded(batches: readonly (readonly Row[])[], metadata: [string, string][] = []): Bytes {
  const stream = new ArrowStream(COLUMNS);
  for (const rows of batches) stream.add(rows);
  return stream.done(metadata) as Bytes;
}

/** What the official reader reads. */
function decoded(bytes: Bytes) {
  const table = tableFromIPC(bytes);
  return Array.from({ length: table.numRows }, (_, row) => {
    const [text, number, flag, time, map] = COLUMNS.map(({ name }) =>
      table.getChild(name)?.get(row),
    );
    return { text, number, flag, time, map: map === null ? null : [...map] };
  });
}

function wanted({ text, number, flag, time, map }: Row) {
  return {
    text,
    number: number === null ? null : BigInt(number),
    flag,
    time: time === null ? null : Math.floor(time / 1_000) * 1_000,
    map,
  };
}

const NOTHING: Row = { text: null, number: null, flag: null, time: null, map: null };

test("the official reader gets every value", () => {
  const rows: Row[] = [
    { text: "é日\u{1f600}\uffff", number: 2n ** 64n - 1n, flag: true, time: 1_999, map: [] },
    NOTHING,
    {
      text: "",
      number: 0,
      flag: false,
      time: 0,
      map: [
        ["a", "1"],
        ["b", ""],
      ],
    },
  ];
  assert.deepEqual(decoded(encoded([rows])), rows.map(wanted));
});

test("any rows in any batches round-trip", () => {
  const row = fc.record({
    text: fc.option(fc.string({ unit: "binary" })),
    number: fc.option(fc.nat()),
    flag: fc.option(fc.boolean()),
    time: fc.option(fc.nat({ max: 4_000_000_000_000 })),
    map: fc.option(
      fc.uniqueArray(fc.tuple(fc.string({ minLength: 1 }), fc.string()), {
        maxLength: 4,
        selector: ([name]) => name,
      }),
    ),
  });
  fc.assert(
    fc.property(fc.array(fc.array(row, { maxLength: 20 }), { maxLength: 3 }), (batches) => {
      assert.deepEqual(decoded(encoded(batches)), batches.flat().map(wanted));
    }),
  );
});

test("the schema has types and metadata; without rows nothing follows it", () => {
  const table = tableFromIPC(
    encoded(
      [],
      [
        ["NextMarker", "on"],
        ["NumberOfRecords", "0"],
      ],
    ),
  );
  assert.equal(table.numRows, 0);
  assert.deepEqual(
    [...table.schema.metadata],
    [
      ["NextMarker", "on"],
      ["NumberOfRecords", "0"],
    ],
  );
  assert.deepEqual(
    table.schema.fields.map(({ name, type, nullable }) => `${name}: ${type} ${nullable}`),
    [
      "a-text: Utf8 true",
      "a-number: Uint64 true",
      "a-flag: Bool true",
      "a-time: Timestamp<SECOND, UTC> true",
      "a-map: Map<{key:Utf8, value:Utf8}> true",
    ],
  );
});

test("every message begins at a multiple of 8 bytes", () => {
  const bytes = encoded([[NOTHING], [NOTHING, NOTHING]]);
  assert.equal(bytes.length % 8, 0);
  const starts: number[] = [];
  for (let at = bytes.indexOf("ffffffff", 0, "hex"); at >= 0; ) {
    starts.push(at);
    at = bytes.indexOf("ffffffff", at + 4, "hex");
  }
  assert.equal(starts.length, 4);
  assert.ok(starts.every((at) => at % 8 === 0));
});
