import assert from "node:assert/strict";
import { test } from "node:test";
import { accountUrls, connectionString, reachableUrls } from "./connection-string.ts";
import { SERVICE_NAMES, type ServiceName } from "./flags.ts";

function listenOn(host: string) {
  const entries = SERVICE_NAMES.map((service) => [service, { host }]);
  return Object.fromEntries(entries) as Record<ServiceName, { host: string }>;
}

test("a client reaches a server by the name that was asked for, and at loopback for all", () => {
  const cases = [
    ["127.0.0.1", "http://127.0.0.1:5", "http://127.0.0.1:5"],
    ["localhost", "https://127.0.0.1:443", "https://localhost:443"],
    ["0.0.0.0", "http://0.0.0.0:80", "http://127.0.0.1:80"],
    ["::", "http://[::]:5", "http://[::1]:5"],
    ["fe80::1", "http://[fe80::1]:5", "http://[fe80::1]:5"],
  ] as const;
  for (const [host, origin, url] of cases) {
    assert.deepEqual(reachableUrls(new Map([["blob", origin]]), listenOn(host)), { blob: url });
  }
});

test("a connection string names the endpoints of the REST services", () => {
  const urls = {
    blob: "https://localhost:1",
    file: "https://localhost:2",
    smb: "smb://localhost:3",
  };
  assert.equal(
    connectionString("shop", "a2V5", accountUrls("shop", urls)),
    "DefaultEndpointsProtocol=https;AccountName=shop;AccountKey=a2V5;" +
      "BlobEndpoint=https://localhost:1/shop;FileEndpoint=https://localhost:2/shop;",
  );
});
