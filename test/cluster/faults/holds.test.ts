import assert from "node:assert/strict";
import { test } from "node:test";
import { Holds, KEPT_MS_MIN, type Trouble } from "./holds.ts";

/** A clock that is turned by hand, and what the judge objects to. */
function bed() {
  const state = { nowMs: 1_000, outageMs: 0, trouble: "none" as Trouble };
  const objections: string[] = [];
  const holds = new Holds({
    nowMs: () => state.nowMs,
    outageMs: () => state.outageMs,
    object: (what) => objections.push(what),
  });
  const begin = () => holds.begin("an open", () => state.trouble, state.nowMs);
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
    state.outageMs = KEPT_MS_MIN;
    const first = begin();
    state.nowMs += 2 * KEPT_MS_MIN;
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

test("a hold at a front end without trouble ends only after an outage", () => {
  for (const outageMs of [0, KEPT_MS_MIN]) {
    const { state, objections, holds, begin } = bed();
    state.outageMs = outageMs;
    holds.lost(begin(), "the end of a connection");
    assert.equal(objections.length, outageMs === 0 ? 1 : 0);
  }
});

test("a front end that is away loses its holds no sooner than its lease", () => {
  for (const awayMs of [KEPT_MS_MIN - 1, KEPT_MS_MIN]) {
    const { state, objections, holds, begin } = bed();
    state.trouble = "away";
    const first = begin();
    state.nowMs += awayMs;
    begin();
    holds.lost(first, "");
    assert.equal(objections.length, awayMs < KEPT_MS_MIN ? 1 : 0);
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
