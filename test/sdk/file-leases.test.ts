import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { RestError, type ShareClient, type ShareFileClient } from "@azure/storage-file-share";
import { type FileServer, startFileServer } from "./file-server.ts";
import { type LeaseClient, type LeasedClient, testLeaseMachine } from "./lease-machine.ts";
import { rawRequest } from "./raw-request.ts";
import { refused } from "./refused.ts";

const A = "aaaaaaaa-0000-4000-8000-000000000001";
const B = "bbbbbbbb-0000-4000-8000-000000000002";

let server: FileServer;
let count = 0;

before(async () => {
  server = await startFileServer();
});

after(async () => {
  await server.close();
  assert.deepEqual(server.failures, []);
});

async function newShare(): Promise<ShareClient> {
  const share = server.client().getShareClient(`share-${++count}`);
  await share.create();
  return share;
}

async function newFile(): Promise<ShareFileClient> {
  const file = (await newShare()).rootDirectoryClient.getFileClient("file");
  await file.create(10);
  return file;
}

/**
 * Sends renewals and break periods itself: the SDK sends no break period, and treats shares as
 * files when it renews.
 */
function leaseClientOf(share: ShareClient, id: string): LeaseClient {
  const lease = share.getShareLeaseClient(id);
  const raw = async (headers: Record<string, string>) => {
    const path = `/${share.name}?restype=share&comp=lease`;
    const { status, code } = await rawRequest(server, { method: "PUT", path, headers });
    if (code !== "") throw new RestError(code, { code, statusCode: status });
    return { _response: { status } };
  };
  return {
    acquireLease: (seconds) => lease.acquireLease(seconds),
    renewLease: () => raw({ "x-ms-lease-action": "renew", "x-ms-lease-id": id }),
    changeLease: (proposed) => lease.changeLease(proposed),
    releaseLease: () => lease.releaseLease(),
    breakLease: (seconds?: number) =>
      seconds === undefined
        ? lease.breakLease()
        : raw({ "x-ms-lease-action": "break", "x-ms-lease-break-period": String(seconds) }),
  };
}

testLeaseMachine("a share", async () => {
  const share = await newShare();
  const client: LeasedClient = {
    getBlobLeaseClient: (id) => leaseClientOf(share, id),
    getProperties: () => share.getProperties(),
  };
  return { server, client, path: `/${share.name}?restype=share&comp=lease` };
});

test("deleting a leased share requires the lease id", async () => {
  const share = await newShare();
  await refused(
    share.delete({ leaseAccessConditions: { leaseId: A } }),
    412,
    "LeaseNotPresentWithContainerOperation",
  );
  await share.getShareLeaseClient(A).acquireLease(15);
  await refused(share.delete(), 412, "LeaseIdMissing");
  const wrong = { leaseAccessConditions: { leaseId: B } };
  await refused(share.delete(wrong), 412, "LeaseIdMismatchWithContainerOperation");
  server.clock.advance(15_000);
  const right = { leaseAccessConditions: { leaseId: A } };
  await refused(share.delete(right), 412, "LeaseLost");
  await share.delete();
});

test("a refusal for a lease names the file or share that it is on", async () => {
  const file = await newFile();
  const share = server.client().getShareClient(file.shareName);
  await file.getShareLeaseClient(A).acquireLease();
  await share.getShareLeaseClient(A).acquireLease(15);
  const wrong = { leaseAccessConditions: { leaseId: B } };
  const refusals = [
    await refused(file.delete(), 412, "LeaseIdMissing"),
    await refused(share.delete(), 412, "LeaseIdMissing"),
    await refused(file.delete(wrong), 412, "LeaseIdMismatchWithFileOperation"),
    await refused(share.delete(wrong), 412, "LeaseIdMismatchWithContainerOperation"),
  ];
  const named = refusals.map(({ message }) => / (the (file|share)\S*?)[ .]/.exec(message)?.[1]);
  assert.deepEqual(named, ["the file/share", "the file/share", "the file", "the share"]);
});

test("a file's lease goes from available to leased, changed, broken and released", async () => {
  const file = await newFile();
  const state = async () => {
    const { leaseState, leaseStatus, leaseDuration } = await file.getProperties();
    return [leaseState, leaseStatus, leaseDuration];
  };
  assert.deepEqual(await state(), ["available", "unlocked", undefined]);
  const lease = file.getShareLeaseClient(A);
  assert.equal((await lease.acquireLease()).leaseId, A);
  assert.deepEqual(await state(), ["leased", "locked", "infinite"]);
  await lease.acquireLease();
  await refused(file.getShareLeaseClient(B).acquireLease(), 409, "LeaseAlreadyPresent");
  await refused(
    file.getShareLeaseClient(B).releaseLease(),
    409,
    "LeaseIdMismatchWithLeaseOperation",
  );
  await lease.changeLease(B);
  await refused(
    file.getShareLeaseClient(A).releaseLease(),
    409,
    "LeaseIdMismatchWithLeaseOperation",
  );
  const broken = await rawRequest(server, {
    method: "PUT",
    path: `/share-${count}/file?comp=lease`,
    headers: { "x-ms-lease-action": "break" },
  });
  assert.deepEqual([broken.status, broken.headers.get("x-ms-lease-time")], [202, "0"]);
  assert.deepEqual(await state(), ["broken", "unlocked", undefined]);
  await refused(
    file.getShareLeaseClient(B).changeLease(A),
    409,
    "LeaseNotPresentWithLeaseOperation",
  );
  await file.getShareLeaseClient(B).releaseLease();
  assert.deepEqual(await state(), ["available", "unlocked", undefined]);
  await refused(file.getShareLeaseClient(B).breakLease(), 409, "LeaseNotPresentWithLeaseOperation");
  await refused(
    file.getShareLeaseClient(A).changeLease(B),
    409,
    "LeaseNotPresentWithLeaseOperation",
  );
});

test("leasing a file changes neither its ETag nor its Last-Modified", async () => {
  const file = await newFile();
  const { etag, lastModified } = await file.getProperties();
  server.clock.advance(5_000);
  const lease = file.getShareLeaseClient(A);
  for (const act of [
    () => lease.acquireLease(),
    () => lease.changeLease(B),
    () => lease.breakLease(),
  ]) {
    const done = await act();
    assert.deepEqual([done.etag, done.lastModified], [etag, lastModified]);
  }
  const found = await file.getProperties();
  assert.deepEqual([found.etag, found.lastModified], [etag, lastModified]);
});

type FileCall = (
  file: ShareFileClient,
  leaseAccessConditions: { leaseId?: string },
) => Promise<unknown>;

const WRITES: Record<string, FileCall> = {
  createFile: (file, leaseAccessConditions) => file.create(5, { leaseAccessConditions }),
  putRange: (file, leaseAccessConditions) => file.uploadRange("x", 0, 1, { leaseAccessConditions }),
  clearRange: (file, leaseAccessConditions) => file.clearRange(0, 1, { leaseAccessConditions }),
};
const READS: Record<string, FileCall> = {
  getFile: (file, leaseAccessConditions) => file.download(0, 1, { leaseAccessConditions }),
  getFileProperties: (file, leaseAccessConditions) => file.getProperties({ leaseAccessConditions }),
};

const MISMATCH = "LeaseIdMismatchWithFileOperation";
const NOT_PRESENT = "LeaseNotPresentWithFileOperation";

async function answers(call: FileCall, file: ShareFileClient, id: string, code: string) {
  const calling = call(file, id === "" ? {} : { leaseId: id });
  if (code === "") await calling;
  else await refused(calling, 412, code);
}

for (const [operation, call] of Object.entries({ ...WRITES, ...READS })) {
  const isWrite = operation in WRITES;
  test(`${operation} checks the lease id, and ${isWrite ? "requires" : "does not require"} it`, async () => {
    const file = await newFile();
    await answers(call, file, A, NOT_PRESENT);
    await file.getShareLeaseClient(A).acquireLease();
    await answers(call, file, "", isWrite ? "LeaseIdMissing" : "");
    await answers(call, file, B, MISMATCH);
    await answers(call, file, A, "");
    assert.equal((await file.getProperties()).leaseState, "leased");
    await file.getShareLeaseClient(A).breakLease();
    await answers(call, file, A, "LeaseLost");
    await answers(call, file, "", "");
    assert.equal((await file.getProperties()).leaseState, isWrite ? "available" : "broken");
  });
}

test("invalid lease requests on a file are refused by name", async () => {
  const file = await newFile();
  const path = `/share-${count}/file?comp=lease`;
  const asked = async (headers: Record<string, string>) => {
    const answer = await rawRequest(server, { method: "PUT", path, headers });
    return [answer.status, answer.code, /<HeaderName>(.*)<\/HeaderName>/.exec(answer.text)?.[1]];
  };
  const acquire = { "x-ms-lease-action": "acquire" };
  for (const duration of ["15", "60", "0", "-2", "x"]) {
    const answer = await asked({ ...acquire, "x-ms-lease-duration": duration });
    assert.deepEqual(answer, [400, "InvalidHeaderValue", "x-ms-lease-duration"]);
  }
  assert.deepEqual(await asked(acquire), [400, "MissingRequiredHeader", "x-ms-lease-duration"]);
  const renew = { "x-ms-lease-action": "renew", "x-ms-lease-id": A };
  assert.deepEqual(await asked(renew), [400, "InvalidHeaderValue", "x-ms-lease-action"]);
  const period = { "x-ms-lease-action": "break", "x-ms-lease-break-period": "5" };
  assert.deepEqual(await asked(period), [400, "UnsupportedHeader", "x-ms-lease-break-period"]);
  const none = file.getShareLeaseClient("no-guid").acquireLease();
  await refused(none, 400, "InvalidHeaderValue");
  const missing = { method: "PUT", headers: { ...acquire, "x-ms-lease-duration": "-1" } };
  const nowhere = await rawRequest(server, { ...missing, path: `/share-${count}/none?comp=lease` });
  assert.deepEqual([nowhere.status, nowhere.code], [404, "ResourceNotFound"]);
  const snapshot = `${path}&sharesnapshot=2026-11-16T00:17:23.1234567Z`;
  const old = await rawRequest(server, { ...missing, path: snapshot });
  assert.deepEqual([old.status, old.code], [400, "InvalidQueryParameterValue"]);
});
