import assert from "node:assert/strict";
import { test } from "node:test";
import { readCsv } from "../../console/csv.ts";

test("rows of comma-separated values are read, with quotes, line breaks and empty fields", () => {
  for (const [text, rows] of [
    ["", []],
    [
      "a,b\n1,2",
      [
        ["a", "b"],
        ["1", "2"],
      ],
    ],
    [
      "a,b\r\n1,\r\n",
      [
        ["a", "b"],
        ["1", ""],
      ],
    ],
    ['"a, b","say ""so""","two\nlines"\n', [["a, b", 'say "so"', "two\nlines"]]],
    ["\ufeffname\nü", [["name"], ["ü"]]],
    ['5" disk,b', [['5" disk', "b"]]],
    [",", [["", ""]]],
  ] as const) {
    assert.deepEqual(readCsv(text), rows, JSON.stringify(text));
  }
});

test("a row that may be cut is left out, and so is what a page cannot show", () => {
  assert.deepEqual(readCsv("a,b\n1,2\n3", true), [
    ["a", "b"],
    ["1", "2"],
  ]);
  assert.deepEqual(readCsv('a\n"open', true), [["a"]]);
  const long = readCsv("a\n".repeat(1_000));
  assert.equal(long.length, 201);
});
