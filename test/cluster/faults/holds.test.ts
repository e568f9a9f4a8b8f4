import assert from "node:assert/strict";
import { test } from "node:test";
import { Holds, OUTAGE_MS_MIN, type Trouble } from "./holds.ts";

/** A clock that is turned by hand, and what the judge objects to. */
function bed() {
  const state = { nowMs: 1_000, outageMs: 0, trouble: "none" as Trouble };
  const objections: string[] = [];
  const holds = new Holds({
    nowMs: () => state.nowMs,
    object: (what) => objections.push(what),
  });
  const begin = () => holds.begin("an open", () => state, state.nowMs);
  return { state, objections, holds, begin };
}

test("one client after the other may have a file", () => {
  const { state, objections, holds, begin } = bed();
  begin().ending();
  state.nowMs++;
  begin().ending();
  holds.used("a read", state.nowMs);
  assert.deepEqual(objections, []);
});

test("nobody else may use a file whose holder goes on using it", () => {
  for (const trouble of ["none", "away", "ended"] as const) {
    const { state, objections, begin } = bed();
    state.trouble = trouble;
    const first = begin();
    state.outageMs = OUTAGE_MS_MIN;
    state.nowMs++;
    begin();
    state.nowMs++;
    first.succeeded(state.nowMs);
    assert.equal(objections.length, 1, trouble);
  }
});

test("a request that was sent before may be answered after", () => {
  const { state, objections, begin } = bed();
  state.trouble = "ended";
  const first = begin();
  const sentMs = ++state.nowMs;
  state.nowMs++;
  begin();
  state.nowMs++;
  first.succeeded(sentMs);
  assert.deepEqual(objections, []);
});

test("a use that was sent before the hold began takes nothing", () => {
  const { state, objections, holds, begin } = bed();
  const sentMs = state.nowMs;
  state.nowMs++;
  const hold = begin();
  state.nowMs++;
  holds.used("a read", sentMs);
  hold.succeeded(++state.nowMs);
  hold.ending();
  assert.deepEqual(objections, []);
});

test("a hold ends with its front end, or after an outage of it", () => {
  for (const trouble of ["none", "away", "ended"] as const) {
    for (const outageMs of [OUTAGE_MS_MIN - 1, OUTAGE_MS_MIN]) {
      for (const isTaken of [true, false]) {
        const { state, objections, holds, begin } = bed();
        Object.assign(state, { trouble, outageMs });
        const first = begin();
        state.nowMs++;
        if (isTaken) begin();
        holds.lost(first, "the end of a connection");
        const isEarly = trouble !== "ended" && outageMs < OUTAGE_MS_MIN;
        assert.equal(objections.length, isEarly ? 1 : 0, `${trouble} ${outageMs} ${isTaken}`);
      }
    }
  }
});

test("tells how long a lost hold kept others away", () => {
  const { state, holds, begin } = bed();
  state.trouble = "ended";
  holds.lost(begin(), "");
  state.nowMs += 30_000;
  begin();
  assert.equal(holds.longestLostMs, 30_000);
});

test("a file that somebody else got before its holder noticed was not kept from anybody", () => {
  const { state, holds, begin } = bed();
  state.trouble = "ended";
  const first = begin();
  state.nowMs += 10;
  const second = begin();
  state.nowMs += 400;
  holds.lost(first, "a lost connection");
  second.ending();
  state.nowMs += 20_000;
  begin();
  assert.equal(holds.longestLostMs, 10);
});

test("a file that nobody gets for a while after its holder lost it was kept from all", () => {
  const { state, holds, begin } = bed();
  state.trouble = "ended";
  const first = begin();
  state.nowMs += 400;
  holds.lost(first, "a lost connection");
  state.nowMs += 20_000;
  begin();
  assert.equal(holds.longestLostMs, 20_400);
});
