import assert from "node:assert/strict";
import { test } from "node:test";
import { DatabaseClock } from "./database-clock.ts";

test("between two answers, the database's time goes on by what has elapsed", () => {
  let elapsedMs = 1_000;
  const clock = new DatabaseClock(() => elapsedMs);
  clock.hear(5_000_000);
  assert.equal(clock.now(), 5_000_000);
  elapsedMs += 250.5;
  assert.equal(clock.now(), 5_000_250);
  clock.hear(4_999_000);
  assert.equal(clock.now(), 4_999_000);
});
