import assert from "node:assert/strict";
import { test } from "node:test";
import { SEQUENCE_NUMBER_MAX } from "../base/limits.ts";
import { judgeBySequenceNumber, stepSequenceNumber } from "./sequence-number.ts";

const NONE = { atMost: null, below: null, equal: null };
const REFUSED = "SequenceNumberConditionNotMet";

test("a write passes if all its conditions on the number hold", () => {
  assert.equal(judgeBySequenceNumber(5n, NONE), null);
  const cases = [
    ["atMost", [null, null, REFUSED]],
    ["below", [null, REFUSED, REFUSED]],
    ["equal", [REFUSED, null, REFUSED]],
  ] as const;
  for (const [condition, expected] of cases) {
    const found = [4n, 5n, 6n].map((current) =>
      judgeBySequenceNumber(current, { ...NONE, [condition]: 5n }),
    );
    assert.deepEqual(found, expected, condition);
  }
  assert.equal(judgeBySequenceNumber(5n, { atMost: 5n, below: 6n, equal: 5n }), null);
  assert.equal(judgeBySequenceNumber(5n, { atMost: 5n, below: 5n, equal: 5n }), REFUSED);
});

test("a number is set, raised but not lowered, or incremented up to its maximum", () => {
  const number = (current: bigint, asked: Parameters<typeof stepSequenceNumber>[1]) =>
    stepSequenceNumber(current, asked);
  assert.deepEqual(number(5n, { action: "update", number: 3n }), { refused: null, number: 3n });
  assert.deepEqual(number(5n, { action: "max", number: 3n }), { refused: null, number: 5n });
  assert.deepEqual(number(5n, { action: "max", number: 7n }), { refused: null, number: 7n });
  assert.deepEqual(number(5n, { action: "increment" }), { refused: null, number: 6n });
  assert.deepEqual(number(SEQUENCE_NUMBER_MAX, { action: "increment" }), {
    refused: "SequenceNumberIncrementTooLarge",
  });
});
