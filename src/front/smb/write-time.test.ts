import assert from "node:assert/strict";
import { test } from "node:test";
import { WriteTime } from "./write-time.ts";

const NEVER_MS = 2 ** 31 - 1;

/** Counts how often the time is set. */
function counted(delayMs = NEVER_MS) {
  const seen = { applied: 0, next: () => {} };
  const time = new WriteTime(async () => {
    seen.applied++;
    seen.next();
  }, delayMs);
  return { time, seen };
}

test("a write shows once: when the open is flushed, or else when it is closed", async () => {
  const { time, seen } = counted();
  time.wrote();
  time.wrote();
  assert.equal(seen.applied, 0);
  await time.flush();
  await time.flush();
  assert.equal(seen.applied, 1);
  assert.equal(time.end(), false);
  const other = counted().time;
  other.wrote();
  assert.equal(other.end(), true);
  assert.equal(other.end(), false);
});

test("the first write shows after a delay, a second one does not", async (t) => {
  const { time, seen } = counted(1);
  // The delay itself does not keep the process alive.
  const alive = setTimeout(() => {}, NEVER_MS); // tidy-allow sleep: nobody waits for it
  t.after(() => clearTimeout(alive));
  const shown = new Promise<void>((resolve) => {
    seen.next = resolve;
  });
  time.wrote();
  await shown;
  time.wrote();
  assert.equal(seen.applied, 1);
  assert.equal(time.end(), true);
});

test("a time that the client sets stays until the client gives it up", async () => {
  const { time, seen } = counted();
  time.wrote();
  time.setByClient(true);
  time.wrote();
  await time.flush();
  assert.equal(seen.applied, 0);
  assert.equal(time.isSetByClient, true);
  time.setByClient(false);
  time.wrote();
  assert.equal(time.end(), true);
});
