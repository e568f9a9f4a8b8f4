import assert from "node:assert/strict";
import { test } from "node:test";
import type { ContainerClient } from "@azure/storage-blob";
import { testLeaseMachine } from "./lease-machine.ts";
import { rawRequest } from "./raw-request.ts";
import { forThisFile, startServer } from "./server.ts";

const A = "aaaaaaaa-0000-4000-8000-000000000001";
const B = "bbbbbbbb-0000-4000-8000-000000000002";

const server = await forThisFile(startServer());

testLeaseMachine("a container", async () => {
  const client = await server.makeContainer();
  return { server, client, path: `/${client.containerName}?restype=container&comp=lease` };
});

/** Expected codes of an operation with A's id, B's id and none, by state of A's lease. */
type Uses = Readonly<Record<string, readonly [withA: string, withB: string, without: string]>>;

const MISMATCH = "LeaseIdMismatchWithContainerOperation";
const NOT_PRESENT = "LeaseNotPresentWithContainerOperation";

const DELETES: Uses = {
  available: [NOT_PRESENT, NOT_PRESENT, ""],
  leased: ["", MISMATCH, "LeaseIdMissing"],
  breaking: ["", MISMATCH, "LeaseIdMissing"],
  broken: ["LeaseLost", MISMATCH, ""],
  expired: ["LeaseLost", MISMATCH, ""],
};

const OTHERS: Uses = Object.fromEntries(
  Object.entries(DELETES).map(([state, [withA, withB]]) => [state, [withA, withB, ""]]),
);

async function bring(container: ContainerClient, state: string): Promise<void> {
  if (state === "available") return;
  const lease = container.getBlobLeaseClient(A);
  await lease.acquireLease(state === "expired" ? 15 : 60);
  if (state === "breaking") await lease.breakLease(30);
  if (state === "broken") await lease.breakLease(0);
  if (state === "expired") server.clock.advance(15_000);
}

const OPERATIONS: readonly [name: string, method: string, query: string, uses: Uses][] = [
  ["Delete Container", "DELETE", "restype=container", DELETES],
  ["Get Container Properties", "GET", "restype=container", OTHERS],
  ["Get Container Metadata", "GET", "restype=container&comp=metadata", OTHERS],
  ["Set Container Metadata", "PUT", "restype=container&comp=metadata", OTHERS],
  ["Get Container ACL", "GET", "restype=container&comp=acl", OTHERS],
  ["Set Container ACL", "PUT", "restype=container&comp=acl", OTHERS],
];

for (const [name, method, query, uses] of OPERATIONS) {
  for (const [state, codes] of Object.entries(uses)) {
    test(`${name} of a container that is ${state} checks the lease id`, async () => {
      for (const [at, id] of [A, B, ""].entries()) {
        const container = await server.makeContainer();
        await bring(container, state);
        const answer = await rawRequest(server, {
          method,
          path: `/${container.containerName}?${query}`,
          headers: id === "" ? {} : { "x-ms-lease-id": id },
        });
        assert.equal(answer.code, codes[at], `with ${id || "no id"}`);
        assert.equal(answer.status >= 400, codes[at] !== "");
        if (answer.code !== "") assert.equal(answer.status, 412);
        const isGone = method === "DELETE" && answer.code === "";
        assert.equal(await container.exists(), !isGone);
      }
    });
  }
}

test("a container's lease does not protect its blobs, nor a blob's lease its container", async () => {
  const container = await server.makeContainer();
  await container.getBlobLeaseClient(A).acquireLease(-1);
  const blob = container.getBlockBlobClient("blob");
  await blob.upload("text", 4);
  await blob.getBlobLeaseClient(B).acquireLease(-1);
  await container.delete({ conditions: { leaseId: A } });
  assert.equal(await container.exists(), false);
});

test("leasing a container changes neither its ETag nor its Last-Modified", async () => {
  const container = await server.makeContainer();
  const { etag, lastModified } = await container.getProperties();
  server.clock.advance(5_000);
  const lease = container.getBlobLeaseClient(A);
  for (const act of [
    () => lease.acquireLease(60),
    () => lease.renewLease(),
    () => lease.changeLease(B),
    () => lease.breakLease(10),
    () => lease.releaseLease(),
  ]) {
    const done = await act();
    assert.deepEqual([done.etag, done.lastModified], [etag, lastModified]);
    const found = await container.getProperties();
    assert.deepEqual([found.etag, found.lastModified], [etag, lastModified]);
  }
});

test("invalid lease headers are refused by name", async () => {
  const { containerName } = await server.makeContainer();
  const refused = async (headers: Record<string, string>) => {
    const path = `/${containerName}?restype=container&comp=lease`;
    const { status, code, text } = await rawRequest(server, { method: "PUT", path, headers });
    assert.equal(status, 400, JSON.stringify(headers));
    return [code, /<HeaderName>(.*)<\/HeaderName>/.exec(text)?.[1]];
  };
  const acquire = { "x-ms-lease-action": "acquire" };
  assert.deepEqual(await refused({}), ["MissingRequiredHeader", "x-ms-lease-action"]);
  assert.deepEqual(await refused(acquire), ["MissingRequiredHeader", "x-ms-lease-duration"]);
  assert.deepEqual(await refused({ "x-ms-lease-action": "renew" }), [
    "MissingRequiredHeader",
    "x-ms-lease-id",
  ]);
  assert.deepEqual(await refused({ "x-ms-lease-action": "seize" }), [
    "InvalidHeaderValue",
    "x-ms-lease-action",
  ]);
  for (const duration of ["0", "14", "61", "-2", "15.5", "x"]) {
    assert.deepEqual(await refused({ ...acquire, "x-ms-lease-duration": duration }), [
      "InvalidHeaderValue",
      "x-ms-lease-duration",
    ]);
  }
  for (const period of ["-1", "61", "x"]) {
    const headers = { "x-ms-lease-action": "break", "x-ms-lease-break-period": period };
    assert.deepEqual(await refused(headers), ["InvalidHeaderValue", "x-ms-lease-break-period"]);
  }
  const proposed = { "x-ms-lease-duration": "15", "x-ms-proposed-lease-id": "me" };
  assert.deepEqual(await refused({ ...acquire, ...proposed }), [
    "InvalidHeaderValue",
    "x-ms-proposed-lease-id",
  ]);
});
