import assert from "node:assert/strict";
import { test } from "node:test";
import { ACCOUNT, NOON } from "./request.fixture.ts";
import { judgeUserDelegationKey, makeUserDelegationKey } from "./user-delegation-key.ts";

const DAY_MS = 24 * 3_600_000;
const SECRET = ACCOUNT.delegationSecret;

test("equal terms always give the same key, and any other term gives another key", () => {
  const make = (objectId: string, tenantId: string, startMs: number, end: number, rest: string[]) =>
    makeUserDelegationKey(
      SECRET,
      { objectId, tenantId },
      startMs,
      end,
      rest[0] ?? "b",
      rest[1] ?? "v",
    ).value.toString("hex");
  const key = make("o", "t", NOON, NOON + DAY_MS, []);
  assert.equal(key, make("o", "t", NOON, NOON + DAY_MS, []));
  assert.equal(key, make("o", "t", NOON + 999, NOON + DAY_MS, []), "times count to the second");
  const others = [
    make("p", "t", NOON, NOON + DAY_MS, []),
    make("o", "u", NOON, NOON + DAY_MS, []),
    make("ot", "", NOON, NOON + DAY_MS, []),
    make("o", "t", NOON + 1_000, NOON + DAY_MS, []),
    make("o", "t", NOON, NOON + DAY_MS + 1_000, []),
    make("o", "t", NOON, NOON + DAY_MS, ["q"]),
    make("o", "t", NOON, NOON + DAY_MS, ["b", "w"]),
  ];
  assert.equal(new Set([key, ...others]).size, 8);
});

test("a key must start and end within seven days of now, in this order", () => {
  const refused = (startMs: number, expiryMs: number) =>
    judgeUserDelegationKey(NOON + startMs, NOON + expiryMs, NOON) !== null;
  assert.equal(refused(0, 7 * DAY_MS), false);
  assert.equal(refused(-DAY_MS, DAY_MS), false);
  assert.equal(refused(6 * DAY_MS, 7 * DAY_MS), false);
  assert.equal(refused(0, 7 * DAY_MS + 1), true);
  assert.equal(refused(8 * DAY_MS, 9 * DAY_MS), true);
  assert.equal(refused(-8 * DAY_MS, DAY_MS), true);
  assert.equal(refused(DAY_MS, DAY_MS), true);
  assert.equal(refused(2 * DAY_MS, DAY_MS), true);
  assert.equal(refused(-2 * DAY_MS, -DAY_MS), true);
  assert.equal(refused(-DAY_MS, 0), true);
});
