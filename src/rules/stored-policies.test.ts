import assert from "node:assert/strict";
import { test } from "node:test";
import type { StoredPolicy } from "./access.ts";
import { CONTAINER_LETTERS, judgePolicies } from "./stored-policies.ts";

function policy(changes: Partial<StoredPolicy>): StoredPolicy {
  return { id: "one", startMs: null, expiryMs: null, letters: null, ...changes };
}

function refused(...policies: StoredPolicy[]) {
  return judgePolicies(policies, CONTAINER_LETTERS);
}

test("a container has up to five policies", () => {
  const five = ["a", "b", "c", "d", "e"].map((id) => policy({ id }));
  assert.equal(refused(...five), null);
  assert.equal(refused(...five, policy({ id: "f" })), "InvalidXmlDocument");
});

test("a policy's id has 1 to 64 characters and is unique", () => {
  assert.equal(refused(policy({ id: "x".repeat(64) })), null);
  assert.equal(refused(policy({ id: "x".repeat(65) })), "InvalidXmlNodeValue");
  assert.equal(refused(policy({ id: "" })), "InvalidXmlNodeValue");
  assert.equal(refused(policy({ id: "x" }), policy({ id: "x" })), "InvalidXmlNodeValue");
});

test("a policy grants letters that exist, in any order", () => {
  assert.equal(refused(policy({ letters: "lwr" })), null);
  assert.equal(refused(policy({ letters: "rZ" })), "InvalidXmlNodeValue");
});
