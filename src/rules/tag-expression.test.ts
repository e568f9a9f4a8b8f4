import assert from "node:assert/strict";
import { test } from "node:test";
import { judgeByTags, matchesTags, type TagComparison } from "./tag-expression.ts";

const TAGS: [string, string][] = [
  ["colour", "blue"],
  ["size", "10"],
];

function compare(tag: string, operator: TagComparison["operator"], value: string): TagComparison {
  return { kind: "compare", tag, operator, value };
}

test("values compare as text", () => {
  const operators = ["=", "<>", ">", ">=", "<", "<="] as const;
  const held = (value: string) =>
    operators.filter((operator) => matchesTags(TAGS, compare("size", operator, value))).join(" ");
  assert.equal(held("10"), "= >= <=");
  assert.equal(held("1"), "<> > >=");
  assert.equal(held("9"), "<> < <=");
});

test("a missing tag meets no comparison", () => {
  for (const operator of ["=", "<>", ">", ">=", "<", "<="] as const) {
    assert.equal(matchesTags(TAGS, compare("Colour", operator, "")), false);
  }
});

test("all terms must hold, or any", () => {
  const yes = compare("colour", "=", "blue");
  const no = compare("colour", "=", "red");
  for (const [left, right] of [
    [yes, yes],
    [yes, no],
    [no, yes],
    [no, no],
  ] as const) {
    const terms = [left, right];
    assert.equal(matchesTags(TAGS, { kind: "all", terms }), left === yes && right === yes);
    assert.equal(matchesTags(TAGS, { kind: "any", terms }), left === yes || right === yes);
  }
});

test("an expression that does not hold is refused, a missing expression never", () => {
  assert.equal(judgeByTags([], null), null);
  assert.equal(judgeByTags([], compare("colour", "=", "blue")), "ConditionNotMet");
  assert.equal(judgeByTags(TAGS, compare("colour", "=", "blue")), null);
});
