import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import type { BlockBlobClient, ContainerClient } from "@azure/storage-blob";
import { askFor, BLOB_OPERATIONS, type BlobOperation, newBlobFor } from "./blob-operations.ts";
import { testLeaseMachine } from "./lease-machine.ts";
import { refused } from "./refused.ts";
import { startServer, type TestServer } from "./server.ts";

type State = "available" | "leased" | "breaking" | "broken" | "expired";
type Cell = "ok" | "ok->available" | { status: number; code: string };

const USES: Record<string, Record<State, Cell>> = JSON.parse(
  readFileSync(new URL("../../../test/vectors/lease-machine.json", import.meta.url), "utf8"),
).useOnBlob;

const A = "aaaaaaaa-0000-4000-8000-000000000001";
const B = "bbbbbbbb-0000-4000-8000-000000000002";

let server: TestServer;
let container: ContainerClient;
let blobs = 0;

before(async () => {
  server = await startServer();
  container = server.client().getContainerClient("leases");
  await container.create();
});

after(async () => {
  await server.close();
  assert.deepEqual(server.failures, []);
});

function newBlob(on?: BlobOperation["on"]): Promise<BlockBlobClient> {
  return newBlobFor(container, `blob-${blobs++}`, on);
}

async function leasedBlob(seconds = 60, on?: BlobOperation["on"]): Promise<BlockBlobClient> {
  const blob = await newBlob(on);
  await blob.getBlobLeaseClient(A).acquireLease(seconds);
  return blob;
}

/** Makes a blob on which A's lease is in this state. */
async function blobIn(state: State, on?: BlobOperation["on"]): Promise<BlockBlobClient> {
  if (state === "available") return newBlob(on);
  const blob = await leasedBlob(state === "expired" ? 15 : 60, on);
  if (state === "breaking") await blob.getBlobLeaseClient(A).breakLease(30);
  if (state === "broken") await blob.getBlobLeaseClient(A).breakLease(0);
  if (state === "expired") server.clock.advance(15_000);
  return blob;
}

testLeaseMachine("a blob", async () => {
  const client = await newBlob();
  return { server, client, path: `/${container.containerName}/${client.name}?comp=lease` };
});

for (const operation of BLOB_OPERATIONS) {
  // Copy Blob accepts infinite leases only; the copy tests cover it.
  if (operation.name === "Copy Blob") continue;
  // A snapshot requires no lease id, but checks one that is sent.
  const use = ["reads", "snapshots"].includes(operation.kind) ? "read" : "write";
  for (const state of ["available", "leased", "breaking", "broken", "expired"] as const) {
    test(`${operation.name} of a blob whose lease is ${state} checks the lease id`, async () => {
      for (const [letter, id] of [
        ["A", A],
        ["B", B],
        ["", ""],
      ] as const) {
        const cell = USES[`${use}(${letter})`]?.[state] as Cell;
        const blob = await blobIn(state, operation.on);
        const path = `/${container.containerName}/${blob.name}`;
        const headers: Record<string, string> = id === "" ? {} : { "x-ms-lease-id": id };
        const answer = await askFor(server, operation, path, headers);
        const expected = typeof cell === "string" ? { status: 0, code: "" } : cell;
        assert.equal(answer.code, expected.code, `with ${letter || "no id"}`);
        if (expected.code !== "") assert.equal(answer.status, 412);
        else assert.ok(answer.status < 300, answer.text);
        if (operation.kind === "deletes" && expected.code === "") continue;
        const { leaseState } = await blob.getProperties();
        assert.equal(leaseState, cell === "ok->available" ? "available" : state);
      }
    });
  }
}

test("setting tags or the tier also clears a broken or expired lease", async () => {
  for (const [state, after] of [
    ["broken", "available"],
    ["expired", "available"],
    ["leased", "leased"],
  ] as const) {
    const conditions = state === "leased" ? { leaseId: A } : {};
    for (const write of [
      (blob: BlockBlobClient) => blob.setTags({ a: "b" }, { conditions }),
      (blob: BlockBlobClient) => blob.setAccessTier("Cool"),
      (blob: BlockBlobClient) => blob.stageBlockFromURL("AAAA", blob.url, 0, 1, { conditions }),
    ]) {
      const blob = await blobIn(state);
      const { etag } = await blob.getProperties();
      await write(blob);
      const found = await blob.getProperties();
      assert.deepEqual([found.leaseState, found.etag], [after, etag], String(write));
    }
  }
});

test("leasing changes neither ETag nor Last-Modified", async () => {
  const blob = await newBlob();
  const { etag, lastModified } = await blob.getProperties();
  server.clock.advance(5_000);
  const lease = blob.getBlobLeaseClient(A);
  for (const act of [
    () => lease.acquireLease(60),
    () => lease.renewLease(),
    () => lease.changeLease(B),
    () => lease.breakLease(10),
    () => lease.releaseLease(),
  ]) {
    const done = await act();
    assert.deepEqual([done.etag, done.lastModified], [etag, lastModified]);
    const found = await blob.getProperties();
    assert.deepEqual([found.etag, found.lastModified], [etag, lastModified]);
  }
});

test("a finite lease expires when its time is over", async () => {
  const blob = await leasedBlob(15);
  await refused(blob.getBlobLeaseClient(B).acquireLease(15), 409, "LeaseAlreadyPresent");
  server.clock.advance(14_999);
  await refused(blob.getBlobLeaseClient(B).acquireLease(15), 409, "LeaseAlreadyPresent");
  await refused(blob.upload("new", 3), 412, "LeaseIdMissing");
  server.clock.advance(1);
  await blob.getBlobLeaseClient(B).acquireLease(15);
});

test("an infinite lease lasts until it is released", async () => {
  const blob = await leasedBlob(-1);
  server.clock.advance(365 * 24 * 3_600_000);
  const { leaseState, leaseDuration } = await blob.getProperties();
  assert.deepEqual([leaseState, leaseDuration], ["leased", "infinite"]);
  await refused(blob.upload("new", 3), 412, "LeaseIdMissing");
  await blob.getBlobLeaseClient(A).releaseLease();
  await blob.upload("new", 3);
});

test("a breaking lease is enforced until its break period is over", async () => {
  const blob = await leasedBlob(-1);
  const done = await blob.getBlobLeaseClient(A).breakLease(20);
  assert.equal(done.leaseTime, 20);
  server.clock.advance(19_999);
  await refused(blob.upload("new", 3), 412, "LeaseIdMissing");
  await blob.upload("new", 3, { conditions: { leaseId: A } });
  server.clock.advance(1);
  await blob.upload("new", 3);
});

test("a break without a period returns the remaining whole seconds of the lease", async () => {
  const blob = await leasedBlob(15);
  server.clock.advance(1);
  assert.equal((await blob.getBlobLeaseClient(A).breakLease(undefined as never)).leaseTime, 14);
  server.clock.advance(13_500);
  assert.equal((await blob.getBlobLeaseClient(A).breakLease(undefined as never)).leaseTime, 1);
  server.clock.advance(1_000);
  assert.equal((await blob.getBlobLeaseClient(A).breakLease(undefined as never)).leaseTime, 0);
});

test("an expired lease can be renewed unless the blob was written meanwhile", async () => {
  const untouched = await blobIn("expired");
  await untouched.getBlobLeaseClient(A).renewLease();
  const written = await blobIn("expired");
  await written.setMetadata({ by: "somebody else" });
  await refused(
    written.getBlobLeaseClient(A).renewLease(),
    409,
    "LeaseIdMismatchWithLeaseOperation",
  );
});

test("an overwrite with the lease id preserves the lease, a deletion ends it", async () => {
  const blob = await leasedBlob();
  const conditions = { leaseId: A };
  await blob.upload("new", 3, { conditions });
  assert.equal((await blob.getProperties()).leaseState, "leased");
  await blob.commitBlockList([], { conditions });
  assert.equal((await blob.getProperties()).leaseState, "leased");
  await blob.delete({ conditions });
  await blob.upload("new", 3);
  assert.equal((await blob.getProperties()).leaseState, "available");
});

test("a lease id on a missing blob is refused", async () => {
  const blob = container.getBlockBlobClient("not-yet");
  const conditions = { leaseId: A };
  const code = "LeaseNotPresentWithBlobOperation";
  await refused(blob.upload("new", 3, { conditions }), 412, code);
  await refused(blob.commitBlockList([], { conditions }), 412, code);
  await refused(blob.stageBlock("AAAA", "x", 1, { conditions }), 412, code);
  await refused(blob.getBlobLeaseClient(A).acquireLease(15), 404, "BlobNotFound");
  await blob.stageBlock("AAAA", "x", 1);
  await refused(blob.getBlobLeaseClient(A).acquireLease(15), 404, "BlobNotFound");
});

test("lease ids are accepted in every GUID format", async () => {
  const blob = await leasedBlob();
  for (const leaseId of [A.toUpperCase(), `{${A}}`, A.replaceAll("-", "")]) {
    await blob.setMetadata({}, { conditions: { leaseId } });
  }
  await refused(blob.setMetadata({}, { conditions: { leaseId: "me" } }), 400, "InvalidHeaderValue");
});

test("exclusive write, shared read: writers use the id, readers do not", async () => {
  const blob = await leasedBlob();
  await blob.upload("by the holder", 13, { conditions: { leaseId: A } });
  await refused(blob.upload("by another", 10), 412, "LeaseIdMissing");
  assert.equal((await blob.downloadToBuffer()).toString(), "by the holder");
});

test("exclusive write, exclusive read: readers send the id as well", async () => {
  const blob = await leasedBlob();
  const mine = { conditions: { leaseId: A } };
  const theirs = { conditions: { leaseId: B } };
  const mismatch = "LeaseIdMismatchWithBlobOperation";
  await blob.upload("by the holder", 13, mine);
  await refused(blob.upload("by another", 10, theirs), 412, mismatch);
  await refused(blob.download(0, undefined, theirs), 412, mismatch);
  assert.equal((await blob.download(0, undefined, mine)).contentLength, 13);
});

test("shared write, exclusive read: writers share the id, exclusive readers check theirs", async () => {
  const blob = await leasedBlob();
  const shared = { conditions: { leaseId: A } };
  await Promise.all(["one", "two"].map((text) => blob.upload(text, 3, shared)));
  const reader = { conditions: { leaseId: B } };
  await refused(blob.getProperties(reader), 412, "LeaseIdMismatchWithBlobOperation");
  // The reader takes over the lease, and the writers find that theirs is gone.
  await blob.getBlobLeaseClient(A).changeLease(B);
  assert.equal((await blob.getProperties(reader)).contentLength, 3);
  await refused(blob.upload("late", 4, shared), 412, "LeaseIdMismatchWithBlobOperation");
});
