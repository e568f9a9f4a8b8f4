import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualClock } from "../base/clock.ts";
import { CLOCKS_ON_TIME, LabClock } from "./lab-clock.ts";

const START_MS = Date.UTC(2026, 0, 1);
const HOUR_MS = 3_600_000;

function clocks() {
  const machine = new ManualClock(START_MS);
  const lab = new LabClock(machine);
  const change = (asked: object) => lab.change(asked, ["near", "far"]);
  /** Hours ahead of the start, of the server and two accounts. */
  const hours = () =>
    [lab.now(), lab.of("near"), lab.of("far")].map((now) => (now - START_MS) / HOUR_MS);
  return { machine, lab, change, hours };
}

test("a moved clock runs on, and a frozen one stands until it is moved, set or resumed", () => {
  const { machine, change, hours, lab } = clocks();
  change({ move: "2h" });
  machine.advance(HOUR_MS);
  assert.deepEqual(hours(), [3, 3, 3]);
  change({ freeze: true });
  machine.advance(HOUR_MS);
  assert.equal(lab.now() - START_MS, 3 * HOUR_MS);
  change({ move: "-1h" });
  machine.advance(HOUR_MS);
  assert.deepEqual(hours(), [2, 2, 2]);
  change({ set: "2026-01-01T08:00Z" });
  machine.advance(HOUR_MS);
  assert.deepEqual(hours(), [8, 8, 8]);
  change({ resume: true });
  machine.advance(HOUR_MS);
  assert.deepEqual(hours(), [9, 9, 9]);
  change({ reset: true });
  assert.equal(lab.now(), machine.now());
  assert.equal(lab.elapsedMs(), machine.elapsedMs());
});

test("an account's clock runs on top of the server's, unless it is frozen", () => {
  const { change, hours, lab } = clocks();
  change({ move: "1h", account: "near" });
  change({ freeze: true, account: "far" });
  change({ move: "2h" });
  assert.deepEqual(hours(), [2, 3, 0]);
  assert.deepEqual([lab.has("near"), lab.has("far"), lab.has("other")], [true, true, false]);
  assert.equal(lab.earliest(), START_MS);
  change({ reset: true, account: "far" });
  assert.deepEqual(hours(), [2, 3, 2]);
  assert.equal(lab.earliest(), START_MS + 2 * HOUR_MS);
  change({ move: "-1h", account: "near" });
  assert.equal(lab.has("near"), false);
});

test("all clocks can be saved and put back, and are shown", () => {
  const { change, hours, lab } = clocks();
  change({ move: "1h" });
  change({ freeze: true, account: "near" });
  const saved = lab.settings;
  change({ move: "5h" });
  change({ move: "1h", account: "far" });
  lab.settings = saved;
  assert.deepEqual(hours(), [1, 1, 1]);
  assert.deepEqual(lab.shown, {
    server: { now: "2026-01-01T01:00:00.000Z", isFrozen: false, aheadMs: HOUR_MS },
    accounts: { near: { now: "2026-01-01T01:00:00.000Z", isFrozen: true, aheadMs: HOUR_MS } },
  });
  lab.settings = CLOCKS_ON_TIME;
  assert.deepEqual(lab.shown.accounts, {});
  assert.deepEqual(hours(), [0, 0, 0]);
});

test("a wrong change is refused with what is allowed, and changes nothing", () => {
  const { change, hours } = clocks();
  for (const [asked, message] of [
    [{}, /Give one of "move": "20s".*"reset": true/],
    [{ move: "1h", freeze: true }, /Give one of/],
    [{ account: "near" }, /Give one of/],
    [{ moev: "1h" }, /has no field "moev". Its fields are move, set, freeze/],
    [[], /must be a JSON object/],
    [{ move: "1" }, /move must be a duration such as "500ms", "20s"/],
    [{ move: "1w" }, /move must be a duration/],
    [{ move: 5 }, /move must be a duration.*not 5/],
    [{ set: "2026-01-01" }, /set must be a time in UTC such as/],
    [{ set: "2026-01-01T00:00:00+01:00" }, /set must be a time in UTC/],
    [{ set: "2026-13-01T00:00:00Z" }, /set must be a time in UTC/],
    [{ set: "2026-02-30T00:00:00Z" }, /set must be a time in UTC.*not "2026-02-30T00:00:00Z"/],
    [{ set: "2026-01-01T25:00:00Z" }, /set must be a time in UTC/],
    [{ freeze: false }, /freeze must be true, or left out; not false/],
    [{ set: "1969-12-31T00:00:00Z" }, /between the years 1970 and 9000/],
    [{ set: "9999-01-01T00:00:00Z" }, /between the years 1970 and 9000/],
    [{ move: "99999999d" }, /between the years 1970 and 9000/],
    [
      { freeze: true, account: "nobody" },
      /no account "nobody" on this server. There are near, far/,
    ],
    [{ freeze: true, account: 1 }, /account must be a text; not 1/],
  ] as const) {
    assert.throws(() => change(asked), message, JSON.stringify(asked));
  }
  assert.deepEqual(hours(), [0, 0, 0]);
});
