import assert from "node:assert/strict";
import { test } from "node:test";
import { FieldVersions, type HiddenFields } from "./field-versions.ts";

const VERSIONS = new FieldVersions<"get" | "list" | "put">([
  { since: "2015-01-01", of: ["get"], headers: ["x-a"] },
  { since: "2017-01-01", of: "all", headers: ["x-b"] },
  { since: "2019-01-01", of: ["get", "list"], headers: ["x-c"], elements: ["Item/Young"] },
]);
const WHOLE = ["x-a", "1", "x-b", "2", "x-c", "3", "x-d", "4"];

function sent(hidden: HiddenFields | null, body = "") {
  const whole = { status: 200, headers: [...WHOLE], body };
  return hidden === null ? whole : hidden.answerWithout(whole);
}

function headersAt(version: string, operation: "get" | "list" | "put"): string {
  const { headers } = sent(VERSIONS.hiddenFrom(version, operation));
  return headers.filter((_, at) => at % 2 === 0).join(" ");
}

test("a field is sent from its version on, by the operations that have it", () => {
  const cases: [string, "get" | "list" | "put", string][] = [
    ["2014-12-31", "get", "x-d"],
    ["2015-01-01", "get", "x-a x-d"],
    ["2016-12-31", "get", "x-a x-d"],
    ["2017-01-01", "get", "x-a x-b x-d"],
    ["2018-12-31", "get", "x-a x-b x-d"],
    ["2019-01-01", "get", "x-a x-b x-c x-d"],
    ["2014-12-31", "list", "x-a x-d"],
    ["2018-12-31", "list", "x-a x-b x-d"],
    ["2014-12-31", "put", "x-a x-c x-d"],
    ["2017-01-01", "put", "x-a x-b x-c x-d"],
  ];
  for (const [version, operation, expected] of cases) {
    assert.equal(headersAt(version, operation), expected, `${operation} ${version}`);
  }
});

test("a version that has every field hides nothing", () => {
  assert.equal(VERSIONS.hiddenFrom("2019-01-01", "get"), null);
  assert.equal(VERSIONS.hiddenFrom("2099-01-01", "list"), null);
  assert.equal(VERSIONS.hiddenFrom("2018-12-31", "put"), null);
});

test("versions that lack the same fields share one object", () => {
  const hidden = VERSIONS.hiddenFrom("2017-01-01", "list");
  assert.ok(hidden !== null);
  assert.equal(VERSIONS.hiddenFrom("2018-12-31", "list"), hidden);
  assert.notEqual(VERSIONS.hiddenFrom("2016-12-31", "list"), hidden);
});

test("elements are also left out of short bodies", () => {
  const xml = "<Item><Young>1</Young><Old>2</Old></Item>";
  assert.equal(
    sent(VERSIONS.hiddenFrom("2018-01-01", "get"), xml).body,
    "<Item><Old>2</Old></Item>",
  );
  assert.equal(sent(VERSIONS.hiddenFrom("2015-01-01", "put"), xml).body, xml);
});
