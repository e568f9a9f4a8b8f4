import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { RestError } from "@azure/storage-blob";
import { rawRequest } from "./raw-request.ts";
import type { TestService } from "./server.ts";

/** An object that can be leased, created for each cell of the table. */
export interface Leased {
  readonly server: TestService;
  readonly client: LeasedClient;
  /** The path of its lease operation, for requests that the SDK does not send. */
  readonly path: string;
}

/** The common part of the clients of containers, blobs and shares. */
export interface LeasedClient {
  getBlobLeaseClient(id: string): LeaseClient;
  getProperties(): Promise<{ leaseState?: string; leaseStatus?: string; leaseDuration?: string }>;
}

export interface LeaseClient {
  acquireLease(seconds: number): Promise<object>;
  renewLease(): Promise<object>;
  changeLease(id: string): Promise<object>;
  releaseLease(): Promise<object>;
  breakLease(seconds: number): Promise<object>;
}

/** Added by the SDK to every result. */
interface Answered {
  readonly _response?: { readonly status: number };
}

interface Cell {
  readonly status: number;
  readonly code?: string;
  readonly state?: string;
  readonly id?: "A" | "B" | "X";
}

/** The result of a request with or without an id: it may also clear an old lease. */
export type Use = "ok" | "ok->available" | { readonly status: number; readonly code: string };

const MACHINE: {
  actions: Record<string, Record<string, Cell>>;
  useOnBlob: Record<string, Record<string, Use>>;
} = JSON.parse(
  readFileSync(new URL("../../../test/vectors/lease-machine.json", import.meta.url), "utf8"),
);

/** By `read(A)`, `write()` and so on, then by the state of A's lease. */
export const LEASE_USES = MACHINE.useOnBlob;

export const IDS: Readonly<Record<string, string>> = {
  A: "aaaaaaaa-0000-4000-8000-000000000001",
  B: "bbbbbbbb-0000-4000-8000-000000000002",
  C: "cccccccc-0000-4000-8000-000000000003",
};

/** Tests every cell of the state machine over HTTP. */
export function testLeaseMachine(subject: string, make: () => Promise<Leased>): void {
  for (const [action, states] of Object.entries(MACHINE.actions)) {
    for (const [state, cell] of Object.entries(states)) {
      const outcome = cell.code ?? `${cell.status}, then ${cell.state ?? "available"}`;
      test(`${subject} that is ${state}: ${action} gets ${outcome}`, async () => {
        const leased = await make();
        await bring(leased, state);
        const done = await attempt(leased, action);
        assert.deepEqual(done, { status: cell.status, code: cell.code ?? "" });
        if (cell.code === undefined) await checkState(leased, cell);
        else assert.equal((await leased.client.getProperties()).leaseState, state);
      });
    }
  }
}

/** Brings A's lease into this state. */
export async function bring(
  { client, server }: Pick<Leased, "client" | "server">,
  state: string,
): Promise<void> {
  if (state === "available") return;
  const lease = client.getBlobLeaseClient(IDS.A as string);
  await lease.acquireLease(state === "expired" ? 15 : 60);
  if (state === "breaking") await lease.breakLease(30);
  if (state === "broken") await lease.breakLease(0);
  if (state === "expired") server.clock.advance(15_000);
  assert.equal((await client.getProperties()).leaseState, state);
}

async function attempt(leased: Leased, action: string): Promise<{ status: number; code: string }> {
  const [, verb = "", id = "", proposed = ""] = /^(\w+)\((\w*)(?:->(\w+))?\)$/.exec(action) ?? [];
  if (action === "acquire()") return acquireWithoutId(leased);
  const lease = leased.client.getBlobLeaseClient(IDS[id] ?? (IDS.A as string));
  const periods: Record<string, number> = { N: 10, "0": 0 };
  const verbs: Record<string, () => Promise<object>> = {
    acquire: () => lease.acquireLease(30),
    renew: () => lease.renewLease(),
    change: () => lease.changeLease(IDS[proposed] as string),
    release: () => lease.releaseLease(),
    break: () => lease.breakLease(periods[id] as number),
  };
  try {
    const done: Answered = (await verbs[verb]?.()) ?? {};
    return { status: done._response?.status ?? 0, code: "" };
  } catch (error) {
    if (!(error instanceof RestError)) throw error;
    return { status: error.statusCode ?? 0, code: error.code ?? "" };
  }
}

async function acquireWithoutId({ server, path }: Leased) {
  const headers = { "x-ms-lease-action": "acquire", "x-ms-lease-duration": "30" };
  const { status, code } = await rawRequest(server, { method: "PUT", path, headers });
  return { status, code };
}

async function checkState({ client }: Leased, { state, id }: Cell): Promise<void> {
  const found = await client.getProperties();
  assert.equal(found.leaseState, state ?? "available");
  const isLocked = state === "leased" || state === "breaking";
  assert.equal(found.leaseStatus, isLocked ? "locked" : "unlocked");
  assert.equal(found.leaseDuration, state === "leased" ? "fixed" : undefined);
  if (id === "A" || id === "B") await client.getBlobLeaseClient(IDS[id] as string).renewLease();
}
