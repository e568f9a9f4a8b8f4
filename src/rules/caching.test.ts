import assert from "node:assert/strict";
import { test } from "node:test";
import {
  acknowledgeBreak,
  awaitsBreak,
  beginBreak,
  type Caching,
  type CachingKind,
  forceBreak,
  grantCaching,
  HANDLE_CACHING,
  type Intrusion,
  isSpared,
  LOOKS_AT_SECURITY,
  NEEDS_HANDLES,
  needsBreak,
  READ_CACHING,
  READS,
  upgradeCaching,
  WRITE_CACHING,
  WRITES,
} from "./caching.ts";

const LETTERS = { R: READ_CACHING, H: HANDLE_CACHING, W: WRITE_CACHING } as const;

function bits(letters: string): number {
  return [...letters].reduce((sum, letter) => sum | LETTERS[letter as "R"], 0);
}

function letters(state: number): string {
  return Object.entries(LETTERS)
    .filter(([, bit]) => (state & bit) !== 0)
    .map(([letter]) => letter)
    .join("");
}

function holding(state: string, kind: CachingKind = "lease"): Caching {
  return { kind, state: bits(state), breaking: null };
}

/** The break notice, whether the client must answer, and whether the operation waits for it. */
function broken(caching: Caching, intrusion: Intrusion): string {
  if (!needsBreak(caching, intrusion)) return "-";
  const step = beginBreak(caching, intrusion);
  const waits = awaitsBreak(step.caching, intrusion) ? "waits" : "goes on";
  const answer = step.notice?.mustAnswer ? "answer" : "no answer";
  return `${letters(step.notice?.to ?? 0)}, ${answer}, ${waits}`;
}

test("leases and oplocks are broken to the tables' states, and operations wait as the tables say", () => {
  const cases: [string, CachingKind, Intrusion, string][] = [
    ["RHW", "lease", READS, "RH, answer, waits"],
    ["RH", "lease", READS, "-"],
    ["RW", "lease", READS, "R, answer, waits"],
    ["R", "lease", READS, "-"],
    ["RHW", "lease", WRITES, ", answer, waits"],
    ["RH", "lease", WRITES, ", answer, goes on"],
    ["RW", "lease", WRITES, ", answer, waits"],
    ["R", "lease", WRITES, ", no answer, goes on"],
    ["RHW", "lease", NEEDS_HANDLES, "RW, answer, waits"],
    ["RH", "lease", NEEDS_HANDLES, "R, answer, waits"],
    ["RW", "lease", NEEDS_HANDLES, "-"],
    ["R", "lease", NEEDS_HANDLES, "-"],
    ["RHW", "lease", LOOKS_AT_SECURITY, "-"],
    ["RHW", "oplock", LOOKS_AT_SECURITY, "R, answer, waits"],
    ["RHW", "oplock", READS, "R, answer, waits"],
    ["RHW", "oplock", WRITES, ", answer, waits"],
    ["RHW", "oplock", NEEDS_HANDLES, "R, answer, waits"],
    ["RW", "oplock", READS, "R, answer, waits"],
    ["RW", "oplock", NEEDS_HANDLES, "-"],
    ["R", "oplock", READS, "-"],
    ["R", "oplock", WRITES, ", no answer, goes on"],
  ];
  for (const [state, kind, intrusion, expected] of cases) {
    assert.equal(broken(holding(state, kind), intrusion), expected, `${kind} ${state}`);
  }
});

test("a write ends its own client's read oplock, and no other caching of its own", () => {
  assert.equal(isSpared(holding("R", "oplock"), WRITES), false);
  assert.equal(isSpared(holding("R", "oplock"), READS), true);
  assert.equal(isSpared(holding("RHW", "oplock"), WRITES), true);
  assert.equal(isSpared(holding("R", "lease"), WRITES), true);
});

test("a client gives up what its notice says, and no less", () => {
  const { caching } = beginBreak(holding("RHW"), READS);
  assert.equal(acknowledgeBreak(caching, bits("RHW")), "too-much");
  const step = acknowledgeBreak(caching, bits("RH"));
  assert.ok(typeof step !== "string");
  assert.deepEqual(step, { caching: holding("RH"), notice: null });
  assert.equal(acknowledgeBreak(step.caching, bits("R")), "not-breaking");
});

test("a second break during a first is sent step by step, and its operation waits", () => {
  const first = beginBreak(holding("RHW"), READS);
  const more = beginBreak(first.caching, WRITES);
  assert.equal(more.notice, null);
  const second = acknowledgeBreak(more.caching, bits("RH"));
  assert.ok(typeof second !== "string");
  assert.deepEqual(second.notice, { from: bits("RH"), to: bits("R"), mustAnswer: true });
  assert.equal(awaitsBreak(second.caching, READS), true);
  const third = acknowledgeBreak(second.caching, bits("R"));
  assert.ok(typeof third !== "string");
  assert.deepEqual(third.notice, { from: bits("R"), to: 0, mustAnswer: false });
  assert.deepEqual(third.caching, holding(""));
});

test("a client that does not answer in time loses all caching", () => {
  const { caching } = beginBreak(holding("RHW"), READS);
  assert.deepEqual(forceBreak(caching), holding(""));
});

test("caching is granted as the other opens permit", () => {
  const alone = { areThere: false, cachings: [], hasLocks: false };
  const beside = (...cachings: Caching[]) => ({ areThere: true, cachings, hasLocks: false });
  const grant = (
    kind: CachingKind,
    wanted: string,
    rivals: typeof alone | ReturnType<typeof beside>,
  ) => letters(grantCaching(kind, bits(wanted), rivals));
  for (const state of ["R", "RH", "RW", "RHW"]) assert.equal(grant("lease", state, alone), state);
  for (const state of ["H", "W", "HW", ""]) assert.equal(grant("lease", state, alone), "");
  assert.equal(grantCaching("lease", 8 | READ_CACHING, alone), 0);
  assert.equal(grant("lease", "RHW", { ...alone, hasLocks: true }), "");
  assert.equal(grant("lease", "RHW", beside()), "RH");
  assert.equal(grant("lease", "RW", beside(holding("R"))), "R");
  assert.equal(grant("lease", "RH", beside(holding("R", "oplock"))), "R");
  assert.equal(grant("lease", "R", beside(holding("RW"))), "");
  assert.equal(grant("oplock", "RHW", alone), "RHW");
  assert.equal(grant("oplock", "RHW", beside()), "R");
  assert.equal(grant("oplock", "RW", beside(holding("R"))), "R");
  assert.equal(grant("oplock", "R", beside(holding("RH"))), "");
});

test("a lease is upgraded when all that is asked for is granted, and never downgraded by asking", () => {
  const grown = (state: string, wanted: string, granted: string) =>
    letters(upgradeCaching(holding(state), bits(wanted), bits(granted)));
  assert.equal(grown("R", "RHW", "RHW"), "RHW");
  assert.equal(grown("R", "RHW", "RH"), "R");
  assert.equal(grown("RH", "RW", "RW"), "RH");
  assert.equal(grown("RHW", "R", "R"), "RHW");
  const { caching } = beginBreak(holding("RW"), READS);
  assert.equal(letters(upgradeCaching(caching, bits("RHW"), bits("RHW"))), "RW");
});
