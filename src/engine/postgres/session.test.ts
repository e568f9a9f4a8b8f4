import assert from "node:assert/strict";
import { test } from "node:test";
import { readAddress } from "./address.ts";
import type { ClientConfig, Driver } from "./driver.ts";
import { openSession, TIMES } from "./session.ts";

/** A server that is a standby, unless its name says that it is gone. */
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
    return { rows: [{ number: 150_000, version: "15", is_standby: true, process: this }] };
  }
}

async function codeOfFailure(hosts: string): Promise<string> {
  const driver = { Client: FakeClient } as unknown as Driver;
  const address = readAddress(`postgres://${hosts}/data`);
  const setup = { driver, address, id: "00", times: TIMES, makesSchema: true };
  const events = { onLost() {}, onNotice() {} };
  try {
    await openSession(setup, events, new AbortController().signal);
  } catch (error) {
    return (error as { code: string }).code;
  }
  throw new Error("it was opened");
}

test("a standby tells less of why there is no primary than a server that is gone", async () => {
  assert.equal(await codeOfFailure("gone,standby"), "ECONNREFUSED");
  assert.equal(await codeOfFailure("standby,gone"), "ECONNREFUSED");
});

test("standbys alone are an outage: one of them may become the primary", async () => {
  assert.equal(await codeOfFailure("standby,standby"), "25006");
});
