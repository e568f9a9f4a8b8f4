import assert from "node:assert/strict";
import { test } from "node:test";
import { HEALTHY, type Health, healthAnswer } from "./health.ts";

const QUESTIONS = ["", "?for=requests", "?for=writes"];

function answers(health: Partial<Health>, more = ""): string[] {
  return QUESTIONS.map((question) => {
    const { status, text } = healthAnswer(`/healthz${question}${more}`, { ...HEALTHY, ...health });
    return `${status} ${text.trimEnd()}`;
  });
}

test("an outage of all databases is for balancers, not for restarts", () => {
  assert.deepEqual(answers({}), ["200 ok", "200 ok", "200 ok"]);
  assert.deepEqual(answers({ outage: "gone" }), [
    "200 not ready: gone",
    "503 not ready: gone",
    "503 not ready: gone",
  ]);
});

test("health names a database that is out of reach, and refuses only requests about it", () => {
  const outages = new Map([
    ["east", null],
    ["west", 'database "west": gone'],
  ]);
  const partly = '200 partly ready: database "west": gone';
  assert.deepEqual(answers({ outages }), [partly, partly, partly]);
  assert.deepEqual(answers({ outages }, "&database=west").slice(1), [
    '503 not ready: database "west": gone',
    '503 not ready: database "west": gone',
  ]);
  assert.deepEqual(answers({ outages }, "&database=east").slice(1), ["200 ok", "200 ok"]);
  const none = '404 there is no database "north"';
  assert.deepEqual(answers({ outages }, "&database=north").slice(1), [none, none]);
});
