import assert from "node:assert/strict";
import { test } from "node:test";
import { behind } from "./write-parts.ts";

const PARTS = ["abc", "d", "efgh"].map((text) => Buffer.from(text));

for (const [bytes, left] of [
  [0, ["abc", "d", "efgh"]],
  [1, ["bc", "d", "efgh"]],
  [3, ["d", "efgh"]],
  [4, ["efgh"]],
  [7, ["h"]],
  [8, []],
] as const) {
  test(`when a disk has taken ${bytes} of 8 bytes, the others are left`, () => {
    assert.deepEqual(behind(PARTS, bytes).map(String), left);
  });
}
