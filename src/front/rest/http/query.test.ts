import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Fault } from "../../../base/fault.ts";
import { parseQuery } from "./query.ts";

test("parameters are decoded in order, with names in lower case", () => {
  const { entries } = parseQuery("Comp=list&PREFIX=a%2Fb%20c&x-ms=%C3%BC&comp=second");
  assert.deepEqual(entries, [
    ["comp", "list"],
    ["prefix", "a/b c"],
    ["x-ms", "ü"],
    ["comp", "second"],
  ]);
});

test("if a name comes twice, its first value counts", () => {
  const query = parseQuery("a=1&A=2");
  assert.equal(query.get("a"), "1");
  assert.equal(query.get("b"), undefined);
  assert.equal(query.get("__proto__"), undefined);
});

test("a plus is a plus", () => {
  assert.equal(parseQuery("sig=a+b%2Bc").get("sig"), "a+b+c");
});

test("a parameter may have no value, and a value may hold equal signs", () => {
  const query = parseQuery("a&b=&c=x==&&");
  assert.deepEqual(query.entries, [
    ["a", ""],
    ["b", ""],
    ["c", "x=="],
  ]);
  assert.deepEqual(parseQuery("").entries, []);
});

test("a parameter that is not percent-encoded UTF-8 is refused by name", () => {
  for (const value of ["%zz", "%", "%2", "%FF", "%C3", "%ED%A0%80"]) {
    assert.throws(
      () => parseQuery(`ok=1&prefix=${value}`),
      (error) =>
        error instanceof Fault &&
        error.code === "InvalidQueryParameterValue" &&
        error.detail.QueryParameterName === "prefix" &&
        error.detail.QueryParameterValue === value,
    );
  }
  assert.throws(
    () => parseQuery("%zz=1"),
    (error) => error instanceof Fault && error.code === "InvalidUri",
  );
});

test("decoding reverses encoding for every query", () => {
  const pair = fc.tuple(fc.stringMatching(/^[a-z$-]{1,8}$/), fc.string({ unit: "grapheme" }));
  fc.assert(
    fc.property(fc.array(pair), (pairs) => {
      const raw = pairs.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
      assert.deepEqual(parseQuery(raw).entries, pairs);
    }),
  );
});

test("the parser throws nothing but Faults", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (raw) => {
      try {
        parseQuery(raw);
      } catch (error) {
        assert.ok(error instanceof Fault);
      }
    }),
  );
});

test("form reads an unencoded plus as a blank", () => {
  const query = parseQuery("a=1+2%2B3%20%2541&B=x&sig=a+b");
  assert.equal(query.form("a"), "1 2+3 %41");
  assert.deepEqual([query.get("a"), query.get("sig")], ["1+2+3 %41", "a+b"]);
  assert.deepEqual([query.form("b"), query.form("c")], ["x", undefined]);
});
