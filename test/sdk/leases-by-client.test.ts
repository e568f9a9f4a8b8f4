import assert from "node:assert/strict";
import { after, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import type { BlobRequestConditions, ContainerClient } from "@azure/storage-blob";
import { newBlobFor } from "./blob-operations.ts";
import {
  beginPendingCopy,
  blobsIn,
  CLIENT_OPERATIONS,
  type ClientOperation,
  CONTAINER_OPERATIONS,
  type ContainerOperation,
  clientThatAdds,
  visibleStateOf,
} from "./client-operations.ts";
import { bring, IDS, LEASE_USES, type Use } from "./lease-machine.ts";
import { refused } from "./refused.ts";
import { forThisFile, startServer } from "./server.ts";
import { TestSource } from "./test-source.ts";

const elsewhere = await TestSource.start();
const server = await forThisFile(startServer({ copyFrom: [elsewhere.origin] }));
after(() => elsewhere.close());

const STATES = ["available", "leased", "breaking", "broken", "expired"];

/** The holder's id, another id, and none. */
const SENDERS = ["A", "B", ""];

function conditionsOf(sender: string): BlobRequestConditions {
  const leaseId = IDS[sender];
  return leaseId === undefined ? {} : { leaseId };
}

function useOf(what: "read" | "write", sender: string, state: string): Use {
  const use = LEASE_USES[`${what}(${sender})`]?.[state];
  assert.ok(use !== undefined);
  return use;
}

for (const operation of CLIENT_OPERATIONS) {
  // Copy Blob accepts infinite leases only, and has its own test.
  if (operation.name === "Copy Blob") continue;
  for (const state of STATES) {
    test(`${operation.name} by a client checks the id of a blob's lease that is ${state}`, async () => {
      for (const sender of SENDERS) await useOnBlob(operation, state, sender);
    });
  }
}

async function useOnBlob({ kind, on, ask }: ClientOperation, state: string, sender: string) {
  const container = await server.makeContainer();
  const blob = await newBlobFor(container, "blob", on);
  await bring({ server, client: blob }, state);
  const before = await blobsIn(container);
  // A snapshot requires no lease id, but checks one that is sent.
  const use = useOf(kind === "reads" || kind === "snapshots" ? "read" : "write", sender, state);
  const asked = ask(blob, conditionsOf(sender));
  if (typeof use === "object") {
    await refused(asked, use.status, use.code);
    return assert.deepEqual(await blobsIn(container), before);
  }
  await asked;
  assert.equal(isDeepStrictEqual(await blobsIn(container), before), kind === "reads");
  if (kind === "deletes") return;
  const { leaseState } = await blob.getProperties();
  assert.equal(leaseState, use === "ok" ? state : "available");
}

for (const operation of CONTAINER_OPERATIONS) {
  for (const state of STATES) {
    test(`${operation.name} by a client checks the id of a container's lease that is ${state}`, async () => {
      for (const sender of SENDERS) await useOnContainer(operation, state, sender);
    });
  }
}

async function useOnContainer(operation: ContainerOperation, state: string, sender: string) {
  const { kind, ask, dropsLeaseId } = operation;
  const container = await server.makeContainer();
  await bring({ server, client: container }, state);
  const before = await visibleStateOf(container);
  // A container's lease protects only against deletion.
  const use = useOf(kind === "deletes" ? "write" : "read", sender, state);
  const asking = dropsLeaseId ? clientOf(sender, container) : container;
  const asked = ask(asking, conditionsOf(sender));
  if (typeof use === "object") {
    await refused(asked, use.status, use.code.replace("Blob", "Container"));
    return assert.deepEqual(await visibleStateOf(container), before);
  }
  await asked;
  if (kind === "deletes") return assert.equal(await container.exists(), false);
  assert.equal(isDeepStrictEqual(await visibleStateOf(container), before), kind === "reads");
  assert.equal((await container.getProperties()).leaseState, state);
}

/** Makes a client that sends the id even where its methods do not. */
function clientOf(sender: string, { containerName }: ContainerClient): ContainerClient {
  const { leaseId } = conditionsOf(sender);
  const headers: Record<string, string> = leaseId === undefined ? {} : { "x-ms-lease-id": leaseId };
  return clientThatAdds(server, headers).getContainerClient(containerName);
}

test("Copy Blob by a client onto a leased blob requires the id of an infinite lease", async () => {
  const container = await server.makeContainer();
  const blob = await newBlobFor(container, "blob");
  const copyWith = async (sender: string) => {
    const conditions = conditionsOf(sender);
    return (await blob.beginCopyFromURL(blob.url, { conditions })).pollUntilDone();
  };
  const lease = blob.getBlobLeaseClient(IDS.A as string);
  await lease.acquireLease(15);
  const before = await blobsIn(container);
  await refused(copyWith("A"), 412, "InfiniteLeaseDurationRequired");
  assert.deepEqual(await blobsIn(container), before);

  server.clock.advance(15_000);
  await refused(copyWith("A"), 412, "LeaseLost");
  await copyWith("");

  await lease.acquireLease(-1);
  const held = await blobsIn(container);
  await refused(copyWith(""), 412, "LeaseIdMissing");
  await refused(copyWith("B"), 412, "LeaseIdMismatchWithBlobOperation");
  assert.deepEqual(await blobsIn(container), held);
  const { etag } = await blob.getProperties();
  await copyWith("A");
  const found = await blob.getProperties();
  assert.deepEqual([found.leaseState, found.etag !== etag], ["leased", true]);
});

test("a lease on the source of a copy does not matter", async () => {
  const container = await server.makeContainer();
  const source = await newBlobFor(container, "source");
  await source.getBlobLeaseClient().acquireLease(-1);
  const copy = container.getBlockBlobClient("copy");
  await (await copy.beginCopyFromURL(source.url)).pollUntilDone();
  await copy.syncCopyFromURL(source.url);
  assert.equal((await copy.getProperties()).leaseState, "available");
});

// The target of a pending copy can be neither leased nor its lease broken, so these leases are
// never expired or broken.
test("Abort Copy Blob by a client requires the id if the target is leased, and the copy continues if refused", async (t) => {
  t.after(() => elsewhere.release());
  const blob = await newBlobFor(await server.makeContainer(), "blob");
  await blob.getBlobLeaseClient(IDS.A as string).acquireLease(-1);
  const id = await beginPendingCopy(blob, elsewhere, conditionsOf("A"));
  const { etag } = await blob.getProperties();
  const abortWith = (sender: string) =>
    blob.abortCopyFromURL(id, { conditions: conditionsOf(sender) });
  await refused(abortWith(""), 412, "LeaseIdMissing");
  await refused(abortWith("B"), 412, "LeaseIdMismatchWithBlobOperation");
  const pending = await blob.getProperties();
  assert.deepEqual([pending.copyStatus, pending.etag], ["pending", etag]);
  await abortWith("A");
  const { copyStatus, leaseState } = await blob.getProperties();
  assert.deepEqual([copyStatus, leaseState], ["aborted", "leased"]);
});

test("Abort Copy Blob by a client requires no id on an unleased target, and checks one", async (t) => {
  t.after(() => elsewhere.release());
  const blob = (await server.makeContainer()).getBlobClient("copy");
  const id = await beginPendingCopy(blob, elsewhere);
  const conditions = conditionsOf("A");
  const code = "LeaseNotPresentWithBlobOperation";
  await refused(blob.abortCopyFromURL(id, { conditions }), 412, code);
  assert.equal((await blob.getProperties()).copyStatus, "pending");
  await blob.abortCopyFromURL(id);
  assert.equal((await blob.getProperties()).copyStatus, "aborted");
});
