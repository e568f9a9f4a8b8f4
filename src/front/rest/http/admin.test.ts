import assert from "node:assert/strict";
import { test } from "node:test";
import { administer } from "./admin.ts";
import type { IncomingRequest } from "./incoming-request.ts";
import { RequestFacts } from "./request-facts.ts";

test("a reload has a name in logs and metrics, also if it is refused", async () => {
  const reload = async () => ({ isReloaded: true, line: "Reloaded." });
  for (const [token, status] of [
    ["secret", 200],
    ["wrong", 401],
  ] as const) {
    const facts = new RequestFacts();
    const headers = { get: () => `Bearer ${token}` };
    const request = { method: "POST", headers, facts } as unknown as IncomingRequest;
    assert.equal((await administer(request, { token: "secret", reload })).status, status);
    assert.equal(facts.operation, "reload");
  }
});
