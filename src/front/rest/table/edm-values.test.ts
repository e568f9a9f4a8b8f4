import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "../../../base/fault.ts";
import { propertyOf } from "./edm-values.ts";
import type { JsonValue } from "./flat-json.ts";

function taken(value: string | number | boolean, annotation: string | null = null): unknown[] {
  const json: JsonValue =
    typeof value === "boolean"
      ? { kind: "boolean", value }
      : { kind: typeof value === "string" ? "text" : "number", text: String(value) };
  try {
    const property = propertyOf("p", json, annotation);
    return [property?.type, property?.json];
  } catch (error) {
    assert.ok(error instanceof Fault);
    return [error.code];
  }
}

function number(text: string): unknown[] {
  const property = propertyOf("p", { kind: "number", text }, null);
  return [property?.type, property?.json];
}

test("without an annotation the JSON value determines the type", () => {
  assert.deepEqual(taken("x"), ["Edm.String", '"x"']);
  assert.deepEqual(taken(true), ["Edm.Boolean", "true"]);
  assert.deepEqual(number("1"), ["Edm.Int32", "1"]);
  assert.deepEqual(number("-2147483648"), ["Edm.Int32", "-2147483648"]);
  assert.deepEqual(number("2147483648"), ["Edm.Double", "2147483648.0"]);
  assert.deepEqual(number("1.0"), ["Edm.Double", "1.0"]);
  assert.deepEqual(number("-0.0"), ["Edm.Double", "-0.0"]);
  assert.deepEqual(number("1e30"), ["Edm.Double", "1e+30"]);
  assert.equal(propertyOf("p", { kind: "null" }, "Edm.Int64"), null);
});

test("each value has one stored form", () => {
  for (const [value, type, json] of [
    ["0042", "Edm.Int64", '"42"'],
    ["-9223372036854775808", "Edm.Int64", '"-9223372036854775808"'],
    [7, "Edm.Int64", '"7"'],
    ["7", "Edm.Int32", "7"],
    [1, "Edm.Double", "1.0"],
    ["1.50", "Edm.Double", "1.5"],
    ["NaN", "Edm.Double", '"NaN"'],
    ["INF", "Edm.Double", '"Infinity"'],
    ["-Infinity", "Edm.Double", '"-Infinity"'],
    ["true", "Edm.Boolean", "true"],
    ["True", "Edm.Boolean", "true"],
    ["FALSE", "Edm.Boolean", "false"],
    ["2013-08-22T01:12:06.2608595Z", "Edm.DateTime", '"2013-08-22T01:12:06.2608595Z"'],
    ["2013-08-22T01:12:06.000Z", "Edm.DateTime", '"2013-08-22T01:12:06Z"'],
    ["2013-08-22T01:12:06.120+01:00", "Edm.DateTime", '"2013-08-22T00:12:06.12Z"'],
    ["2013-08-22T01:12", "Edm.DateTime", '"2013-08-22T01:12:00Z"'],
    ["1601-01-01T00:00:00Z", "Edm.DateTime", '"1601-01-01T00:00:00Z"'],
    ["9999-12-31T23:59:59.9999999Z", "Edm.DateTime", '"9999-12-31T23:59:59.9999999Z"'],
    ["6F9619FF8B86D011B42D00CF4FC964FF", "Edm.Guid", '"6f9619ff-8b86-d011-b42d-00cf4fc964ff"'],
    ["AQID", "Edm.Binary", '"AQID"'],
    ["", "Edm.Binary", '""'],
    ["\ud800\n", "Edm.String", '"\\ud800\\n"'],
  ] as const) {
    assert.deepEqual(taken(value, type), [type, json], `${type} ${value}`);
  }
});

test("a text that is not a value of its type is refused", () => {
  for (const [value, type] of [
    ["x", "Edm.Int32"],
    [2_147_483_648, "Edm.Int32"],
    [1.5, "Edm.Int32"],
    ["9223372036854775808", "Edm.Int64"],
    ["", "Edm.Int64"],
    ["1.5", "Edm.Int64"],
    ["x", "Edm.Double"],
    ["", "Edm.Double"],
    ["0x10", "Edm.Double"],
    ["yes", "Edm.Boolean"],
    [1, "Edm.Boolean"],
    ["2013-02-30T00:00:00Z", "Edm.DateTime"],
    ["1600-12-31T00:00:00Z", "Edm.DateTime"],
    ["soon", "Edm.DateTime"],
    ["x", "Edm.Guid"],
    ["A", "Edm.Binary"],
    ["A===", "Edm.Binary"],
    ["AQ_-", "Edm.Binary"],
    ["AQID!", "Edm.Binary"],
    [5, "Edm.String"],
    ["x", "Edm.Stream"],
    ["x", "constructor"],
  ] as const) {
    assert.deepEqual(taken(value, type), ["InvalidValueType"], `${type} ${value}`);
  }
});
