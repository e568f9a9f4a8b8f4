import assert from "node:assert/strict";
import { ManualClock } from "../base/clock.ts";
import type { Schedule } from "../base/schedule.ts";
import { MemoryStore } from "../engine/memory/store.ts";
import type { RestServiceName } from "../front/outcome.ts";
import type { RestRequest, RestResponse, RestService } from "../front/rest/http/exchange.ts";
import type { Store } from "../store/store.ts";
import { Lab } from "./lab.ts";

const START_MS = Date.UTC(2026, 0, 1);

/** What is scheduled, in the order in which it is due. Time passes by hand. */
class ManualSchedule {
  readonly #due: { readonly atMs: number; readonly call: () => unknown }[] = [];
  #nowMs = 0;

  readonly schedule: Schedule = (call, afterMs) => {
    const one = { atMs: this.#nowMs + afterMs, call };
    this.#due.push(one);
    return {
      cancel: () => {
        const at = this.#due.indexOf(one);
        if (at >= 0) this.#due.splice(at, 1);
      },
    };
  };

  /** How long each thing that is scheduled has left. */
  get leftMs(): number[] {
    return this.#due.map(({ atMs }) => atMs - this.#nowMs);
  }

  async pass(ms: number): Promise<void> {
    this.#nowMs += ms;
    for (const { atMs, call } of [...this.#due]) if (atMs <= this.#nowMs) await call();
    await settled();
  }
}

/** A lab without a server: requests are functions. */
export interface LabUnderTest {
  readonly lab: Lab;
  readonly clock: ManualClock;
  readonly time: ManualSchedule;
  /** The memory behind the lab's store, and that store. */
  readonly memory: Store;
  readonly store: Store;
  /** Handles a request to Put Blob, or another one, as `handler` does. */
  put(handler: () => Promise<RestResponse>, about?: Asked): Promise<RestResponse>;
}

/** What differs from Put Blob. */
interface Asked {
  readonly service?: RestServiceName;
  readonly operation?: string;
  readonly object?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export function labUnderTest(traits: { readonly recordedMax?: number } = {}): LabUnderTest {
  const clock = new ManualClock(START_MS);
  const time = new ManualSchedule();
  const lab = new Lab({
    ...traits,
    clock,
    schedule: time.schedule,
    token: "token",
    originOf: () => undefined,
    keyOf: (account) => (account === "near" ? "a2V5" : undefined),
    accounts: ["near"],
    smbOrigin: undefined,
  });
  const memory = new MemoryStore(lab.clock);
  const put: LabUnderTest["put"] = (handler, about = {}) => {
    const { service: name = "blob", operation = "putBlob", object = "doc", headers = {} } = about;
    const call = { operation, account: "near", container: "box", object };
    const service: RestService = {
      name,
      handle: (request) => {
        if (request.gate === undefined) throw new Error("the lab set no gate");
        return request.gate.pass(request, { ...call, access: {} as never }, handler);
      },
      renderFault: ({ code }) => ({ status: 400, headers: ["x-ms-error-code", code], body: null }),
    };
    const maps = { headers: new Map(Object.entries(headers)), query: new Map() };
    const request = { id: "1", method: "PUT", facts: {}, ...maps };
    return lab.gate(service).handle(request as unknown as RestRequest);
  };
  return { lab, clock, time, memory, store: lab.around(memory), put };
}

/** The result of work that needs no time. Work that waits for something fails the test at once. */
export async function ended<T>(work: Promise<T>): Promise<T> {
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  work.then(over, over);
  for (let round = 0; round < 10 && !isOver; round++) await settled();
  assert.ok(isOver, "the work still waits for something");
  return work;
}

/** Resolves once everything that can go on by itself has gone on. */
export async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
