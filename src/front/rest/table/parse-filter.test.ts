import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Fault } from "../../../base/fault.ts";
import type { Comparable, Filter } from "../../../rules/entity-filter.ts";
import { parseFilter } from "./parse-filter.ts";

function literalValue(literal: string): Comparable {
  const filter = parseFilter(`a eq ${literal}`);
  assert.equal(filter?.kind, "compare");
  return (filter as Extract<Filter, { kind: "compare" }>).value;
}

function codeOf(text: string): string {
  try {
    parseFilter(text);
    return "";
  } catch (error) {
    assert.ok(error instanceof Fault);
    return error.code;
  }
}

test("constants of every type are parsed", () => {
  for (const [literal, kind, value] of [
    ["'it''s'", "string", "it's"],
    ["''", "string", ""],
    ["'a and (b'", "string", "a and (b"],
    ["5", "number", 5n],
    ["-5", "number", -5n],
    ["9007199254740993", "number", 9007199254740993n],
    ["9223372036854775807L", "number", 9223372036854775807n],
    ["99999999999999999999", "number", 1e20],
    ["1.5", "number", 1.5],
    ["1e3", "number", 1000],
    ["-2.5E-1", "number", -0.25],
    ["1.5d", "number", 1.5],
    ["INF", "number", Number.POSITIVE_INFINITY],
    ["-INF", "number", Number.NEGATIVE_INFINITY],
    ["NaN", "number", Number.NaN],
    ["true", "boolean", true],
    ["false", "boolean", false],
    ["True", "boolean", true],
    ["FALSE", "boolean", false],
    ["datetime'2008-07-10T00:00:00Z'", "datetime", "2008-07-10T00:00:00"],
    ["datetime'2008-07-10T02:00:00.12345670+02:00'", "datetime", "2008-07-10T00:00:00.1234567"],
    [
      "guid'{6F9619FF-8B86-D011-B42D-00CF4FC964FF}'",
      "guid",
      "6f9619ff-8b86-d011-b42d-00cf4fc964ff",
    ],
    ["X'0AfF'", "binary", "0aff"],
    ["binary'0aff'", "binary", "0aff"],
  ] as const) {
    assert.deepEqual(literalValue(literal), { kind, value }, literal);
  }
});

test("either side may be the constant", () => {
  for (const [left, right] of [
    ["5 eq a", "a eq 5"],
    ["5 ne a", "a ne 5"],
    ["5 lt a", "a gt 5"],
    ["5 le a", "a ge 5"],
    ["5 gt a", "a lt 5"],
    ["5 ge a", "a le 5"],
  ] as const) {
    assert.deepEqual(parseFilter(left), parseFilter(right));
  }
});

test("not binds tighter than and, and that tighter than or", () => {
  const same = (text: string, grouped: string) =>
    assert.deepEqual(parseFilter(text), parseFilter(grouped));
  same("a eq 1 or b eq 2 and not c eq 3", "(a eq 1) or ((b eq 2) and (not (c eq 3)))");
  same("not not (a eq 1)", "not (not (a eq 1))");
  same("active", "active eq true");
  same("not active", "not (active eq true)");
  assert.deepEqual(parseFilter("true"), { kind: "constant", value: true });
});

test("a missing or empty filter is none", () => {
  for (const text of [undefined, "", "  "]) assert.equal(parseFilter(text), null);
});

test("an invalid filter is refused", () => {
  for (const text of [
    "a eq",
    "a eq b",
    "1 eq 1",
    "'x'",
    "eq 5",
    "a eq 5 b",
    "(a eq 5",
    "a eq 5)",
    "a EQ 5",
    "a eq 'x",
    "a eq null",
    "a = 5",
    "a eq 5 and",
    "a eq 5 or or b eq 6",
    "not",
    "()",
    "a eq datetime'yesterday'",
    "a eq datetime'2008-02-30T00:00:00Z'",
    "a eq guid'x'",
    "a eq X'0'",
    "a eq binary'xx'",
    "a eq 5x",
    "a eq 1.2.3",
    "a eq 9223372036854775808L",
    "a eq 1.5L",
    "a; drop",
    "a eq $1",
    "constructor eq __proto__",
  ]) {
    assert.equal(codeOf(text), "InvalidInput", text);
  }
});

test("functions and arithmetic are refused with the service's code, NotImplemented", () => {
  for (const text of ["startswith(a,'x')", "length(a) eq 5", "a add 1 eq 2", "a mod 2 eq 0"]) {
    assert.equal(codeOf(text), "NotImplemented", text);
  }
});

test("a filter has up to 250 comparisons, and is nested up to 32 deep", () => {
  const many = (count: number) =>
    Array.from({ length: count }, (_, at) => `a eq ${at}`).join(" or ");
  assert.equal(codeOf(many(250)), "");
  assert.equal(codeOf(many(251)), "InvalidInput");
  const deep = (depth: number) => `${"(".repeat(depth)}a eq 1${")".repeat(depth)}`;
  assert.equal(codeOf(deep(32)), "");
  assert.equal(codeOf(deep(33)), "InvalidInput");
  assert.equal(codeOf(deep(100_000)), "InvalidInput");
  assert.equal(codeOf(`${"not ".repeat(100_000)}a eq 1`), "InvalidInput");
});

test("any text is parsed or refused, without another error", () => {
  const word = fc.constantFrom(
    "a",
    "eq",
    "and",
    "or",
    "not",
    "(",
    ")",
    "'x'",
    "5",
    "5L",
    "true",
    "'",
    "datetime'",
    "-",
    "$",
  );
  const words = fc.array(word, { maxLength: 12 }).map((all) => all.join(" "));
  const any = fc.oneof(words, fc.string({ maxLength: 30 }));
  fc.assert(fc.property(any, (text) => void codeOf(text)));
});
