import assert from "node:assert/strict";
import { test } from "node:test";
import { DAY_MS } from "../base/limits.ts";
import { deletionOf, endOfRetention } from "./retention.ts";

test("a deleted object can be restored for its retention days, shown in whole days", () => {
  const deletedMs = 1_700_000_000_000;
  const untilMs = endOfRetention(deletedMs, 2);
  const daysLeft = (now: number) => deletionOf({ deletedMs, untilMs }, now)?.daysLeft ?? null;
  assert.equal(daysLeft(deletedMs), 2);
  assert.equal(daysLeft(deletedMs + 1), 1);
  assert.equal(daysLeft(deletedMs + DAY_MS + 1), 0);
  assert.equal(daysLeft(deletedMs + 2 * DAY_MS - 1), 0);
  assert.equal(daysLeft(deletedMs + 2 * DAY_MS), null);
});
