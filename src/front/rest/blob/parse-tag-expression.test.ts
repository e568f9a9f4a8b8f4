import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "../../../base/fault.ts";
import type { TagExpression, TagQuery } from "../../../rules/tag-expression.ts";
import { parseTagExpression, parseTagQuery } from "./parse-tag-expression.ts";

const invalid = (sentence: string) => new Fault("InvalidHeaderValue", {}, sentence);

/** The parsed expression, or the parse error. */
function parsed(text: string): string {
  return outcome(() => rendered(parseTagExpression(text, invalid)));
}

/** The parsed query, or the parse error. */
function asked(text: string): string {
  return outcome(() => renderedQuery(parseTagQuery(text, invalid)));
}

function outcome(parse: () => string): string {
  try {
    return parse();
  } catch (error) {
    assert.ok(error instanceof Fault, String(error));
    return (error.sentence ?? "").replace("at or near character position ", "@");
  }
}

function rendered(found: TagExpression): string {
  if (found.kind === "compare") return `${found.tag}${found.operator}${found.value}`;
  return `${found.kind}(${found.terms.map(rendered).join(" ")})`;
}

function renderedQuery({ container, comparisons }: TagQuery): string {
  return [container === null ? "" : `${container}:`, ...comparisons.map(rendered)].join(" ").trim();
}

test("names are in double quotes or unquoted, values in single quotes", () => {
  assert.equal(parsed("colour='blue'"), "colour=blue");
  assert.equal(parsed(` "a b+c" <> 'x +-./:=_' `), "a b+c<>x +-./:=_");
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

test("an error has the position of a character nearby, counted from 1", () => {
  for (const [text, problem] of [
    ["", "@1: unexpected end of query"],
    ["a", "@2: expected an operator"],
    ["a=", "@3: expecting tag value"],
    ["a=b", "@3: expecting tag value"],
    ["'a'='b'", "@1: unexpected ''a''"],
    ["a='b", "@3: expecting tag value"],
    ["a==' b'", "@3: expecting tag value"],
    ["(a='b'", "@7: unexpected end of query"],
    ["a='b')", "@6: unexpected ')'"],
    ["a='b' AND", "@10: unexpected end of query"],
    ["a='b' c='d'", "@7: unexpected 'c'"],
    ["a='b' XOR c='d'", "@7: unexpected 'XOR'"],
    ["a='b' & c='d'", "@7: unexpected '&'"],
    ["a='b' AND key-1='d'", "@11: unexpected 'key-1'"],
    ["1a='b'", "@1: unexpected '1a'"],
    ["@container='b'", "@1: unsupported parameter '@container'"],
    ["a='it''s'", "@3: ''' not permitted in tag name or value"],
    [`"a$"='b'`, "@1: '$' not permitted in tag name or value"],
  ] as const) {
    assert.equal(parsed(text), `Error parsing query ${problem}`, text);
  }
});

test("a condition has any number of comparisons, of names and values of any length", () => {
  const chain = Array(1_500).fill("a<>'b'").join(" AND ");
  assert.ok(parsed(chain).startsWith("all(a<>b "));
  assert.equal(parsed(`${"k".repeat(200)}<>'${"v".repeat(300)}'`).length, 502);
});

test("parentheses nest up to a hundred deep", () => {
  assert.equal(parsed(`${"(".repeat(100)}a='b'${")".repeat(100)}`), "a=b");
  const deeper = `${"(".repeat(101)}a='b'${")".repeat(101)}`;
  assert.equal(parsed(deeper), "Error parsing query @101: unexpected '('");
});

test("a query combines comparisons with AND, optionally in one container", () => {
  assert.equal(asked(`@container = 'c' AND "a" > '1' AND a <= '2'`), "c: a>1 a<=2");
  assert.equal(asked("a='1'"), "a=1");
  assert.equal(asked("(a='1' and (b='2')) AND c='3'"), "a=1 b=2 c=3");
});

test("a query has neither OR nor <>, and checks lengths and characters", () => {
  for (const [text, problem] of [
    ["a='1' OR b='2'", " @7: unexpected 'OR'"],
    ["a<>'1'", " @2: unexpected '<>'"],
    ["a='1' and @container11='1'", " @11: unsupported parameter '@container11'"],
    [`${"k".repeat(129)}='v'`, " @1: tag must be between 1 and 128 characters in length"],
    [`""='v'`, " @1: tag must be between 1 and 128 characters in length"],
    [`k='${"v".repeat(257)}'`, " @3: tag value must be between 0 and 256 characters in length"],
    ["k='v @'", " @3: '@' not permitted in tag name or value"],
    ["@container='c'", ": at least one tag must be compared"],
    ["a='1' AND @container>'c'", ": @container can be compared once, and with = only"],
    [
      "a='1' AND @container='c' AND @container='d'",
      ": @container can be compared once, and with = only",
    ],
  ] as const) {
    assert.equal(asked(text), `Error parsing query${problem}`, text);
  }
  const longest = `${"k".repeat(128)}='${"v".repeat(256)}'`;
  assert.equal(asked(longest).length, 128 + 1 + 256);
});

test("a query compares ten tags at most, and each with one value or one range", () => {
  const tags = (count: number) => Array.from({ length: count }, (_, i) => `t${i}='v'`);
  assert.equal(asked([...tags(10), "@container='c'"].join(" and ")).split(" ").length, 11);
  const many = "Error parsing query: there can be at most 10 unique tags in a query";
  assert.equal(asked(tags(11).join(" and ")), many);
  const twice =
    "Error parsing query: can't have multiple conditions for a single tag unless they define a range";
  for (const text of [
    "a='1' AND a='2'",
    "a='1' AND a>'2'",
    "a>'1' AND a>='2'",
    "a<'1' AND a<'2'",
  ]) {
    assert.equal(asked(text), twice, text);
  }
  assert.equal(asked("a>'1' AND a>='0' AND a<'2'"), twice);
});
