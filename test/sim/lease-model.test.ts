import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { askLease, type Lease, type LeaseAsked, leaseStateOf } from "./lease-model.ts";

interface Cell {
  readonly status: number;
  readonly code?: string;
  readonly state?: string;
  readonly id?: string;
}

const MACHINE: { actions: Record<string, Record<string, Cell>> } = JSON.parse(
  readFileSync(new URL("../../../test/vectors/lease-machine.json", import.meta.url), "utf8"),
);
const NOW_MS = 1_000_000;
const HELD: Lease = { id: "A", seconds: 60, endsMs: NOW_MS + 60_000, brokenMs: null };
const STATES: Readonly<Record<string, Lease | null>> = {
  available: null,
  leased: HELD,
  breaking: { ...HELD, brokenMs: NOW_MS + 30_000 },
  broken: { ...HELD, brokenMs: NOW_MS },
  expired: { ...HELD, endsMs: NOW_MS },
};

function askedBy(action: string): LeaseAsked {
  const [, verb = "", id = "", to = ""] = /^(\w+)\((\w*)(?:->(\w+))?\)$/.exec(action) ?? [];
  switch (verb) {
    case "acquire":
      return { operation: verb, id: id || null, seconds: 30 };
    case "change":
      return { operation: verb, id, to };
    case "break":
      return { operation: verb, seconds: id === "" ? null : id === "0" ? 0 : 10 };
    case "renew":
    case "release":
      return { operation: verb, id };
    default:
      throw new Error(`the table has an action that is unknown here: ${action}`);
  }
}

test("the model of leases agrees with the table of the lease state machine", () => {
  for (const [action, states] of Object.entries(MACHINE.actions)) {
    for (const [state, cell] of Object.entries(states)) {
      const cellName = `${action} when ${state}`;
      const done = askLease(STATES[state] ?? null, askedBy(action), "X", NOW_MS);
      if (cell.code !== undefined) {
        assert.equal(done.refused, `${cell.status} ${cell.code}`, cellName);
        continue;
      }
      assert.ok(done.refused === null, cellName);
      assert.equal(leaseStateOf(done.lease, NOW_MS), cell.state ?? "available", cellName);
      if (cell.id !== undefined) assert.equal(done.lease?.id, cell.id, cellName);
    }
  }
});
