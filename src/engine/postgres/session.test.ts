import assert from "node:assert/strict";
import { test } from "node:test";
import { readAddress } from "./address.ts";
import type { ClientConfig, Driver } from "./driver.ts";
import { openSession, TIMES } from "./session.ts";

/** A server that is a standby, unless its name says that it is gone, or old. */
class FakeClient {
  readonly connection = { stream: { cork() {}, uncork() {}, destroy() {} } };
  readonly #host: string;

  constructor({ host }: ClientConfig) {
    this.#host = host;
  }

  on(): void {}

  async connect(): Promise<void> {
    if (this.#host === "gone") throw Object.assign(new Error("gone"), { code: "ECONNREFUSED" });
  }

  async query(text: string): Promise<unknown> {
    if (text.startsWith("set ")) return { rows: [] };
    const release =
      this.#host === "old" ? { number: 130_014, version: "13.14" } : { number: 150_000 };
    return { rows: [{ ...release, is_standby: this.#host !== "old", process: this }] };
  }
}

async function failureOf(hosts: string): Promise<Error & { readonly code?: string }> {
  const driver = { Client: FakeClient } as unknown as Driver;
  const address = readAddress(`postgres://${hosts}/data`);
  const setup = { driver, address, id: "00", times: TIMES, makesSchema: true };
  const events = { onLost() {}, onNotice() {} };
  try {
    await openSession(setup, events, new AbortController().signal);
  } catch (error) {
    return error as Error;
  }
  throw new Error("it was opened");
}

test("a standby tells less of why there is no primary than a server that is gone", async () => {
  assert.equal((await failureOf("gone,standby")).code, "ECONNREFUSED");
  assert.equal((await failureOf("standby,gone")).code, "ECONNREFUSED");
});

test("standbys alone are an outage: one of them may become the primary", async () => {
  assert.equal((await failureOf("standby,standby")).code, "25006");
});

test("a server that is too old is asked for its release, and refused", async () => {
  assert.match((await failureOf("old")).message, /PostgreSQL 13.14, which is too old/);
});
