import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import fc from "fast-check";
import {
  judgeReadByLease,
  judgeWriteByLease,
  type Lease,
  type LeaseAction,
  type LeaseState,
  leaseAfterWrite,
  leaseIsLocked,
  leaseState,
  leaseStatus,
  stepLease,
} from "./lease.ts";

interface ActionCell {
  status: number;
  code?: string;
  state?: LeaseState;
  id?: "A" | "B" | "C" | "X";
  leaseTime?: number | string;
}
type UseCell = "ok" | "ok->available" | { status: number; code: string };

const vectors: {
  actions: Record<string, Record<LeaseState, ActionCell>>;
  useOnBlob: Record<string, Record<LeaseState, UseCell>>;
} = JSON.parse(readFileSync("test/vectors/lease-machine.json", "utf8"));

const NOW = 1_700_000_000_000;
const IDS = { A: id("a"), B: id("b"), C: id("c"), X: id("f") };
const DURATION_SECONDS = 30;
/** Remaining time of the leases below. */
const LEFT_SECONDS = 20;
const BREAK_SECONDS = 5;

function id(letter: string): string {
  return `${letter.repeat(8)}-0000-4000-8000-000000000000`;
}

/** A lease with id A that is in this state at `NOW`. */
function leaseIn(state: LeaseState): Lease | null {
  const untilMs = NOW + LEFT_SECONDS * 1000;
  const running = { id: IDS.A, durationSeconds: DURATION_SECONDS, untilMs, brokenAtMs: null };
  switch (state) {
    case "available":
      return null;
    case "leased":
      return running;
    case "breaking":
      return { ...running, brokenAtMs: untilMs };
    case "broken":
      return { ...running, brokenAtMs: NOW };
    case "expired":
      return { ...running, untilMs: NOW };
  }
}

function actionOf(name: string): LeaseAction {
  const [, action, inside] = /^(\w+)\((.*)\)$/.exec(name) as unknown as [string, string, string];
  const [first, second] = inside.split("->").map((letter) => IDS[letter as keyof typeof IDS]);
  switch (action) {
    case "acquire":
      return {
        action,
        proposedId: first ?? IDS.X,
        isNewId: first === undefined,
        durationSeconds: DURATION_SECONDS,
      };
    case "renew":
    case "release":
      return { action, id: first as string };
    case "change":
      return { action, id: first as string, proposedId: second as string };
    default: {
      const period = { "": null, "0": 0, N: BREAK_SECONDS }[inside];
      return { action: "break", periodSeconds: period as number | null };
    }
  }
}

/** The table's words for times, in seconds. */
function leaseTimeOf(cell: ActionCell): number | null {
  if (typeof cell.leaseTime === "number") return cell.leaseTime;
  if (cell.leaseTime === undefined) return null;
  return cell.leaseTime.startsWith("min(N") ? BREAK_SECONDS : LEFT_SECONDS;
}

let cells = 0;

for (const [name, row] of Object.entries(vectors.actions)) {
  for (const [state, cell] of Object.entries(row) as [LeaseState, ActionCell][]) {
    cells++;
    test(`${name} on a lease that is ${state}: ${cell.code ?? cell.state}`, () => {
      const before = leaseIn(state);
      assert.equal(leaseState(before, NOW), state);
      const outcome = stepLease(before, actionOf(name), NOW);
      if (outcome.refused !== null) return assert.equal(outcome.refused, cell.code);
      assert.equal(cell.code, undefined);
      assert.equal(leaseState(outcome.lease, NOW), cell.state);
      if (cell.id !== undefined) assert.equal(outcome.lease?.id, IDS[cell.id]);
      const leaseTime = leaseTimeOf(cell);
      if (leaseTime !== null) assert.equal(outcome.secondsLeft, leaseTime);
    });
  }
}

for (const [name, row] of Object.entries(vectors.useOnBlob)) {
  for (const [state, cell] of Object.entries(row) as [LeaseState, UseCell][]) {
    cells++;
    test(`${name} of a blob whose lease is ${state}: ${JSON.stringify(cell)}`, () => {
      const lease = leaseIn(state);
      const [, use, letter] = /^(\w+)\((.*)\)$/.exec(name) as unknown as [string, string, string];
      const sent = letter === "" ? null : IDS[letter as keyof typeof IDS];
      const rule = use === "write" ? judgeWriteByLease : judgeReadByLease;
      const refused = rule(lease, sent, NOW, "Blob");
      if (typeof cell === "object") return assert.equal(refused, cell.code);
      assert.equal(refused, null);
      if (cell === "ok->available") assert.equal(leaseAfterWrite(lease, NOW), null);
    });
  }
}

test("the table has all of its 95 cells", () => {
  assert.equal(cells, 95);
});

test("the seconds until a break are rounded down", () => {
  const untilMs = NOW + 15_000;
  const lease: Lease = { id: IDS.A, durationSeconds: 15, untilMs, brokenAtMs: null };
  for (const [passedMs, seconds] of [
    [0, 15],
    [1, 14],
    [1_000, 14],
    [14_000, 1],
    [14_001, 0],
    [14_999, 0],
  ] as const) {
    const broken = stepLease(lease, { action: "break", periodSeconds: null }, NOW + passedMs);
    assert.ok(broken.refused === null && broken.secondsLeft === seconds, `after ${passedMs} ms`);
    assert.equal(leaseState(broken.lease, untilMs - 1), "breaking");
  }
});

test("breaking an infinite lease takes effect at once, or after the requested period", () => {
  const endless: Lease = { id: IDS.A, durationSeconds: -1, untilMs: null, brokenAtMs: null };
  const atOnce = stepLease(endless, { action: "break", periodSeconds: null }, NOW);
  assert.ok(atOnce.refused === null && atOnce.secondsLeft === 0);
  assert.equal(leaseState(atOnce.lease, NOW), "broken");
  const later = stepLease(endless, { action: "break", periodSeconds: 60 }, NOW);
  assert.ok(later.refused === null && later.secondsLeft === 60);
  assert.equal(leaseState(later.lease, NOW + 59_999), "breaking");
  assert.equal(leaseState(later.lease, NOW + 60_000), "broken");
});

test("a renewed lease runs for its whole duration again", () => {
  const renewed = stepLease(leaseIn("expired"), { action: "renew", id: IDS.A }, NOW);
  assert.ok(renewed.refused === null);
  assert.equal(leaseState(renewed.lease, NOW + DURATION_SECONDS * 1000 - 1), "leased");
  assert.equal(leaseState(renewed.lease, NOW + DURATION_SECONDS * 1000), "expired");
});

test("the duration of a lease is shown only while it is leased", () => {
  const endless: Lease = { id: IDS.A, durationSeconds: -1, untilMs: null, brokenAtMs: null };
  assert.deepEqual(leaseStatus(endless, NOW), {
    state: "leased",
    status: "locked",
    duration: "infinite",
  });
  assert.equal(leaseStatus(leaseIn("leased"), NOW).duration, "fixed");
  for (const state of ["available", "breaking", "broken", "expired"] as const) {
    assert.equal(leaseStatus(leaseIn(state), NOW).duration, null);
  }
  assert.equal(leaseStatus(leaseIn("breaking"), NOW).status, "locked");
});

const letters = fc.constantFrom(IDS.A, IDS.B, IDS.C);
const durations = fc.oneof(fc.constant(-1), fc.integer({ min: 15, max: 60 }));
const actions: fc.Arbitrary<LeaseAction> = fc.oneof(
  fc.record({
    action: fc.constant("acquire" as const),
    proposedId: letters,
    isNewId: fc.constant(false),
    durationSeconds: durations,
  }),
  fc.record({ action: fc.constant("renew" as const), id: letters }),
  fc.record({ action: fc.constant("release" as const), id: letters }),
  fc.record({ action: fc.constant("change" as const), id: letters, proposedId: letters }),
  fc.record({
    action: fc.constant("break" as const),
    periodSeconds: fc.option(fc.integer({ min: 0, max: 60 })),
  }),
);
const steps = fc.array(fc.tuple(fc.nat(90_000), actions), { maxLength: 30 });

/** Runs a history and returns each step with the lease before and after it. */
function follow(
  history: readonly (readonly [number, LeaseAction])[],
  see: (before: Lease | null, action: LeaseAction, after: Lease | null, now: number) => void,
): void {
  let lease: Lease | null = null;
  let now = NOW;
  for (const [waitMs, action] of history) {
    now += waitMs;
    const outcome = stepLease(lease, action, now);
    const after: Lease | null = outcome.refused === null ? outcome.lease : lease;
    see(lease, action, after, now);
    lease = after;
  }
}

test("while a lease is locked, only its holder can pass it on, and only its id permits writes", () => {
  fc.assert(
    fc.property(steps, (history) => {
      follow(history, (before, action, after, now) => {
        for (const one of [IDS.A, IDS.B, IDS.C]) {
          const opens = judgeWriteByLease(after, one, now, "Blob") === null;
          assert.equal(opens, leaseIsLocked(after, now) && after?.id === one);
        }
        if (before === null || !leaseIsLocked(before, now) || after?.id === before.id) return;
        // The id changed or ended: only change and release do that, and both name the holder.
        assert.ok(action.action === "change" || action.action === "release");
        assert.equal(action.id, before.id);
      });
    }),
  );
});

test("breaking never makes a lease last longer", () => {
  fc.assert(
    fc.property(steps, (history) => {
      follow(history, (before, action, after, now) => {
        if (action.action !== "break" || after === null || before === null) return;
        const ends = (lease: Lease) =>
          lease.brokenAtMs ?? lease.untilMs ?? Number.POSITIVE_INFINITY;
        assert.ok(ends(after) <= Math.max(ends(before), now));
        assert.ok(after.brokenAtMs !== null && after.brokenAtMs <= now + 60_000);
      });
    }),
  );
});
