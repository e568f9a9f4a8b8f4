import assert from "node:assert/strict";
import { test } from "node:test";
import { PROBES_UNANSWERED_MAX, Readiness } from "./readiness.ts";

/** A dependency whose answers the test gives, and a schedule that it moves. */
function bed(...names: string[]) {
  const due: (() => void)[] = [];
  const asked: { name: string; answer(error?: string): Promise<void> }[] = [];
  const dependencies = names.map((name) => ({
    name,
    reach: () =>
      new Promise<void>((resolve, reject) => {
        const settle = (error?: string) =>
          error === undefined ? resolve() : reject(new Error(error));
        asked.push({ name, answer: async (error) => settle(error) });
      }),
  }));
  const readiness = new Readiness(dependencies, (callback) => {
    due.push(callback);
    return { cancel: () => void due.splice(0) };
  });
  readiness.start();
  return { readiness, asked, due, pass: () => due.shift()?.() };
}

test("a dependency that fails is named with its reason, until it is back", async () => {
  const { readiness, asked, pass } = bed("the database", "the bucket");
  assert.equal(readiness.outage, null);
  pass();
  await asked[0]?.answer("gone");
  await asked[1]?.answer();
  assert.equal(readiness.outage, "the database: gone");
  pass();
  await asked[2]?.answer("still gone");
  await asked[3]?.answer("denied");
  assert.equal(readiness.outage, "the database: still gone; the bucket: denied");
  pass();
  await asked[4]?.answer();
  await asked[5]?.answer();
  assert.equal(readiness.outage, null);
});

test("a dependency that does not answer is not asked again, and counts as gone", async () => {
  const { readiness, asked, pass } = bed("the database");
  for (let count = 0; count < PROBES_UNANSWERED_MAX; count++) pass();
  assert.equal(readiness.outage, null);
  pass();
  assert.equal(readiness.outage, "the database does not answer");
  assert.equal(asked.length, 1);
  await asked[0]?.answer();
  assert.equal(readiness.outage, null);
  pass();
  assert.equal(asked.length, 2);
});

test("nothing is asked after the end, nor where there is nothing to ask", () => {
  const { readiness, due } = bed("the database");
  assert.equal(due.length, 1);
  readiness.stop();
  assert.equal(due.length, 0);
  assert.equal(bed().due.length, 0);
});
