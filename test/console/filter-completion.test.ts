import assert from "node:assert/strict";
import { test } from "node:test";
import { completeFilter, literalOf, type SeenProperty } from "../../console/filter-completion.ts";
import { parseFilter } from "../../src/front/rest/table/parse-filter.ts";

const SEEN = new Map<string, SeenProperty>([
  ["PartitionKey", { type: "String", values: ["'a'", "'o''r'"] }],
  ["Population", { type: "Int64", values: ["7L"] }],
  ["When", { type: "DateTime", values: [] }],
  ["Is", { type: "Boolean", values: [] }],
]);

/** What is suggested at the end of the text, or where a bar stands. */
function suggested(text: string): string[] {
  const cursor = text.includes("|") ? text.indexOf("|") : text.length;
  const { suggestions } = completeFilter(text.replace("|", ""), cursor, SEEN);
  return suggestions.map((one) => one.text.trim());
}

test("a filter begins with a property that was seen, and so does what follows and, or, not, (", () => {
  const names = ["PartitionKey", "Population", "When", "Is", "not"];
  const beginnings = ["", "Is eq true and ", "Is eq true or ", "not ", "(", "not ("];
  for (const text of beginnings) assert.deepEqual(suggested(text), names, text);
  assert.deepEqual(suggested("p"), ["PartitionKey", "Population"]);
  assert.deepEqual(suggested("Pop"), ["Population"]);
});

test("operators follow a property, and joints a value or a parenthesis", () => {
  assert.deepEqual(suggested("When "), ["eq", "ne", "gt", "ge", "lt", "le"]);
  assert.deepEqual(suggested("When g"), ["gt", "ge"]);
  for (const text of ["Is eq true ", "PartitionKey eq 'a' ", "(Is eq true) ", "When eq 'a b' "]) {
    assert.deepEqual(suggested(text), ["and", "or"], text);
  }
});

test("values are those that were seen, then how the type is written", () => {
  assert.deepEqual(suggested("PartitionKey eq "), ["'a'", "'o''r'", "''"]);
  assert.deepEqual(suggested("PartitionKey eq 'o"), ["'o''r'"]);
  assert.deepEqual(suggested("Population gt "), ["7L", "0L"]);
  assert.deepEqual(suggested("Is eq t"), ["true"]);
  assert.match(suggested("When lt d").join(), /^datetime'/);
  assert.ok(suggested("Unknown eq ").includes("guid''"));
});

test("it completes at the cursor, within a longer text", () => {
  assert.deepEqual(suggested("Pop| eq 3 and Is eq true"), ["Population"]);
  const { from } = completeFilter("Is eq true and Pop", 18, SEEN);
  assert.equal(from, 15);
});

test("a literal is one that the service reads", () => {
  const literals = [
    literalOf("o'r", "String"),
    literalOf("12", "Int64"),
    literalOf(3, "Int32"),
    literalOf(3, "Double"),
    literalOf(0.5, "Double"),
    literalOf(true, "Boolean"),
    literalOf("2026-01-31T00:00:00Z", "DateTime"),
    literalOf("00000000-0000-4000-8000-000000000000", "Guid"),
  ];
  for (const literal of literals)
    assert.doesNotThrow(() => parseFilter(`P eq ${literal}`), literal);
  assert.deepEqual(literals.slice(0, 4), ["'o''r'", "12L", "3", "3.0"]);
});
