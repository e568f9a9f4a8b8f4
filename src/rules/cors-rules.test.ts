import assert from "node:assert/strict";
import { test } from "node:test";
import { type CorsRule, judgeCorsRules } from "./cors-rules.ts";

function rule(changes: Partial<CorsRule>): CorsRule {
  return {
    allowedOrigins: ["*"],
    allowedMethods: ["GET"],
    allowedHeaders: [],
    exposedHeaders: [],
    maxAgeSeconds: 0,
    ...changes,
  };
}

function names(count: number, ending = ""): string[] {
  return Array.from({ length: count }, (_, at) => `h${at}${ending}`);
}

test("a service has up to five rules", () => {
  assert.equal(judgeCorsRules(Array.from({ length: 5 }, () => rule({}))), null);
  assert.equal(judgeCorsRules(Array.from({ length: 6 }, () => rule({}))), "InvalidXmlDocument");
});

test("all rules together have up to 2 KiB of text", () => {
  const origins = (count: number) => [rule({ allowedOrigins: names(count, "x".repeat(245)) })];
  assert.equal(judgeCorsRules(origins(8)), null);
  assert.equal(judgeCorsRules(origins(9)), "InvalidXmlDocument");
});

test("an origin or a header has up to 256 characters", () => {
  assert.equal(judgeCorsRules([rule({ allowedOrigins: ["o".repeat(256)] })]), null);
  const long = "o".repeat(257);
  for (const changes of [{ allowedOrigins: [long] }, { exposedHeaders: [long] }]) {
    assert.equal(judgeCorsRules([rule(changes)]), "InvalidXmlNodeValue");
  }
});

test("a rule names an origin and a method, and methods that exist", () => {
  for (const changes of [
    { allowedOrigins: [] },
    { allowedMethods: [] },
    { allowedMethods: ["get"] },
    { allowedMethods: ["GET", "TRACE"] },
    { allowedOrigins: ["a", ""] },
  ]) {
    assert.equal(judgeCorsRules([rule(changes)]), "InvalidXmlNodeValue", JSON.stringify(changes));
  }
});

test("a rule has up to 64 headers by name and two by the beginning of their names", () => {
  for (const field of ["allowedHeaders", "exposedHeaders"] as const) {
    assert.equal(judgeCorsRules([rule({ [field]: [...names(64), "a*", "b*", "*"] })]), null);
    assert.equal(judgeCorsRules([rule({ [field]: names(65) })]), "InvalidXmlNodeValue");
    assert.equal(judgeCorsRules([rule({ [field]: names(3, "*") })]), "InvalidXmlNodeValue");
  }
});
