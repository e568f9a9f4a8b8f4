import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "../../../base/fault.ts";
import { requireNoKey, requireSupportedOnDelete, requireSupportedOnWrite } from "./unsupported.ts";

function sent(headers: Record<string, string>) {
  return {
    headers: { get: (name: string) => headers[name], raw: Object.entries(headers).flat() },
  };
}

function refused(code: string): (error: unknown) => boolean {
  return (error) => error instanceof Fault && error.code === code;
}

test("headers that would have no effect are refused by name", () => {
  const keys = ["x-ms-encryption-key", "x-ms-encryption-algorithm"];
  const onWrites = [
    "x-ms-tags",
    "x-ms-access-tier",
    "x-ms-encryption-scope",
    "x-ms-immutability-policy-until-date",
    "x-ms-legal-hold",
    "x-ms-expiry-option",
    "x-ms-blob-content-length",
  ];
  for (const name of onWrites) {
    assert.throws(
      () => requireSupportedOnWrite(sent({ [name]: "x" })),
      (error) =>
        error instanceof Fault &&
        error.code === "UnsupportedHeader" &&
        error.detail.HeaderName === name,
    );
  }
  for (const name of keys) {
    const request = sent({ [name]: "x" });
    assert.throws(() => requireNoKey(request), refused("UnsupportedHeader"));
    assert.throws(() => requireSupportedOnDelete(request), refused("UnsupportedHeader"));
  }
});

test("supported headers pass", () => {
  const request = sent({ "x-ms-lease-id": "x", "x-ms-blob-content-type": "text/plain" });
  requireNoKey(request);
  requireSupportedOnWrite(request);
  requireSupportedOnDelete(request);
});
