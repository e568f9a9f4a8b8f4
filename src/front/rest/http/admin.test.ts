import assert from "node:assert/strict";
import { test } from "node:test";
import { NO_BYTES } from "../../../base/bytes.ts";
import { administer, isAdminRequest } from "./admin.ts";
import type { IncomingRequest } from "./incoming-request.ts";
import { RequestFacts } from "./request-facts.ts";

const answer = async () => ({ status: 200, body: "{}" });
const doors = { reload: async () => ({ status: 200, body: "Reloaded." }) };

test("a reload has a name in logs and metrics, also if it is refused", async () => {
  for (const [token, status] of [
    ["secret", 200],
    ["wrong", 401],
  ] as const) {
    const facts = new RequestFacts();
    const headers = { get: () => `Bearer ${token}` };
    const body = { length: NO_BYTES.length };
    const asked = { method: "POST", path: "/-/reload", headers, facts, body };
    const request = asked as unknown as IncomingRequest;
    assert.equal((await administer(request, { token: "secret", doors, answer })).status, status);
    assert.equal(facts.operation, "reload");
  }
});

test("only the paths of doors are requests to the server itself", () => {
  for (const [path, isOne] of [
    ["/-/reload", true],
    ["/-/constructor", false],
    ["/-/", false],
    ["/-/api/holders", true],
    ["/-/api", false],
    ["/api/holders", false],
    ["/reload", false],
  ] as const) {
    assert.equal(isAdminRequest({ path }, { token: "secret", doors, answer }), isOne, path);
  }
});
