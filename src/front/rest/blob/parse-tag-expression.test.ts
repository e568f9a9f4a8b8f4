import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "../../../base/fault.ts";
import type { TagExpression } from "../../../rules/tag-expression.ts";
import { parseTagExpression, parseTagQuery } from "./parse-tag-expression.ts";

const invalid = (reason: string) => new Fault("InvalidHeaderValue", { Reason: reason });

function parsed(text: string): string {
  try {
    return spelled(parseTagExpression(text, invalid));
  } catch (error) {
    assert.ok(error instanceof Fault, String(error));
    return error.code;
  }
}

function spelled(found: TagExpression): string {
  if (found.kind === "compare") return `${found.tag}${found.operator}${found.value}`;
  return `${found.kind}(${found.terms.map(spelled).join(" ")})`;
}

test("names stand in double quotes or alone, values in single quotes", () => {
  assert.equal(parsed("colour='blue'"), "colour=blue");
  assert.equal(parsed(` "a b+c" <> 'it''s' `), "a b+c<>it's");
  assert.equal(parsed("_x1 >= ''"), "_x1>=");
  for (const operator of ["=", "<>", ">", ">=", "<", "<="]) {
    assert.equal(parsed(`a ${operator} 'b'`), `a${operator}b`);
  }
});

test("AND binds tighter than OR, and parentheses tighter than both", () => {
  assert.equal(parsed("a='1' OR b='2' AND c='3'"), "any(a=1 all(b=2 c=3))");
  assert.equal(parsed("(a='1' or b='2') and c='3'"), "all(any(a=1 b=2) c=3)");
  assert.equal(parsed("((a='1'))"), "a=1");
});

test("what is no expression is refused", () => {
  for (const text of [
    "",
    "a",
    "a=",
    "a=b",
    "'a'='b'",
    "a='b",
    "a==' b'",
    "(a='b'",
    "a='b')",
    "a='b' AND",
    "a='b' c='d'",
    "a='b' XOR c='d'",
    "a='b' & c='d'",
    "@container='b'",
    "1a='b'",
  ]) {
    assert.equal(parsed(text), "InvalidHeaderValue", text);
  }
});

test("ten logical operators are the most, and parentheses do not go deeper than that", () => {
  const chain = (operators: number) =>
    Array(operators + 1)
      .fill("a='b'")
      .join(" AND ");
  assert.ok(parsed(chain(10)).startsWith("all("));
  assert.equal(parsed(chain(11)), "InvalidHeaderValue");
  assert.equal(parsed(`${"(".repeat(10)}a='b'${")".repeat(10)}`), "a=b");
  assert.equal(parsed(`${"(".repeat(11)}a='b'${")".repeat(11)}`), "InvalidHeaderValue");
});

test("a query is comparisons that all hold, perhaps in one container", () => {
  const query = parseTagQuery(`@container = 'c' AND "a" > '1' AND a <= '2'`, invalid);
  assert.equal(query.container, "c");
  assert.deepEqual(query.comparisons.map(spelled), ["a>1", "a<=2"]);
  assert.equal(parseTagQuery("a='1'", invalid).container, null);
  for (const text of [
    "@container='c'",
    "a='1' OR b='2'",
    "a<>'1'",
    "(a='1')",
    "a='1' AND @container>'c'",
    "a='1' AND @container='c' AND @container='d'",
  ]) {
    assert.throws(() => parseTagQuery(text, invalid), Fault, text);
  }
});
