import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { beforeEach, test } from "node:test";
import type { BlockBlobClient, ContainerClient } from "@azure/storage-blob";
import { MIB } from "../../src/base/limits.ts";
import { testKey } from "./customer-keys.ts";
import { rawRequest } from "./raw-request.ts";
import { refused } from "./refused.ts";
import { startServer, type TestServer } from "./server.ts";
import { TestSource } from "./test-source.ts";

let server: TestServer;
let elsewhere: TestSource;
let box: ContainerClient;
let copy: BlockBlobClient;
let count = 0;

beforeEach(async () => {
  elsewhere = await TestSource.start();
  server = await startServer({ copyFrom: [elsewhere.origin] });
  box = server.client().getContainerClient(`box${++count}`);
  await box.create();
  copy = box.getBlockBlobClient("copy");
});

async function close(): Promise<void> {
  await elsewhere.close();
  await server.close();
  assert.deepEqual(server.failures, []);
}

/** Starts a copy and returns its id, without polling. */
async function begin(more: Record<string, string> = {}): Promise<string> {
  const answer = await rawRequest(server, {
    method: "PUT",
    path: `/${box.containerName}/copy`,
    headers: { "x-ms-copy-source": `${elsewhere.origin}/object?sig=secret`, ...more },
  });
  assert.deepEqual([answer.status, answer.headers.get("x-ms-copy-status")], [202, "pending"]);
  return answer.headers.get("x-ms-copy-id") ?? "";
}

async function ended() {
  for (;;) {
    const found = await copy.getProperties();
    if (found.copyStatus !== "pending") return found;
  }
}

test("a copy is pending until its bytes have arrived, then has all of them at once", async (t) => {
  t.after(close);
  elsewhere.bytes = randomBytes(12 * MIB);
  elsewhere.headers["x-ms-meta-colour"] = "green";
  elsewhere.hold(9 * MIB);
  const held = elsewhere.held();
  const id = await begin();
  await held;
  let found = await copy.getProperties();
  assert.deepEqual([found.copyId, found.copyStatus, found.contentLength], [id, "pending", 0]);
  assert.equal(found.copySource, `${elsewhere.origin}/object`);
  assert.equal(found.copyCompletedOn, undefined);
  while (found.copyProgress === `0/${12 * MIB}`) found = await copy.getProperties();
  const [done = ""] = (found.copyProgress ?? "").split("/");
  assert.ok(Number(done) >= 8 * MIB && Number(done) <= 9 * MIB, found.copyProgress);
  elsewhere.release();
  const last = await ended();
  assert.deepEqual([last.copyStatus, last.copyProgress], ["success", `${12 * MIB}/${12 * MIB}`]);
  assert.deepEqual([last.contentType, last.metadata], ["text/x-elsewhere", { colour: "green" }]);
  assert.ok((await copy.downloadToBuffer()).equals(elsewhere.bytes));
  assert.deepEqual(
    elsewhere.asked.map(({ method }) => method),
    ["HEAD", "GET"],
  );
  assert.equal(elsewhere.asked[1]?.headers["if-match"], '"one"');
  assert.equal(elsewhere.asked[1]?.headers.authorization, undefined);
});

test("a pending copy blocks writers, but not readers", async (t) => {
  t.after(close);
  elsewhere.hold(0);
  await copy.upload("old", 3);
  await begin();
  const lease = copy.getBlobLeaseClient();
  for (const write of [
    () => copy.upload("new", 3),
    () => copy.stageBlock("AAAA", "x", 1),
    () => copy.commitBlockList([]),
    () => copy.setMetadata({ a: "b" }),
    () => copy.setHTTPHeaders({}),
    () => copy.setTags({ a: "b" }),
    () => copy.setAccessTier("Cool"),
    () => copy.delete(),
    () => copy.createSnapshot(),
    () => lease.acquireLease(15),
    () => lease.breakLease(0),
    () => copy.syncCopyFromURL(copy.url),
    () => copy.syncUploadFromURL(copy.url),
    () => copy.stageBlockFromURL("AAAA", copy.url),
  ]) {
    await refused(write(), 409, "PendingCopyOperation");
  }
  const again = rawRequest(server, {
    method: "PUT",
    path: `/${box.containerName}/copy`,
    headers: { "x-ms-copy-source": `${elsewhere.origin}/object` },
  });
  assert.equal((await again).code, "PendingCopyOperation");
  const other = box.getBlockBlobClient("other").syncCopyFromURL(copy.url);
  await refused(other, 409, "CannotVerifyCopySource");
  assert.equal((await copy.downloadToBuffer()).length, 0);
  elsewhere.release();
  assert.equal((await ended()).copyStatus, "success");
});

test("an aborted copy leaves an empty blob with its new metadata", async (t) => {
  t.after(close);
  for (const type of ["BlockBlob", "PageBlob", "AppendBlob"]) {
    await copy.deleteIfExists();
    elsewhere.bytes = randomBytes(1_024);
    elsewhere.headers["x-ms-blob-type"] = type;
    elsewhere.hold(512);
    const held = elsewhere.held();
    const id = await begin({ "x-ms-meta-new": "yes" });
    await held;
    await refused(copy.abortCopyFromURL("other"), 409, "CopyIdMismatch");
    await copy.abortCopyFromURL(id);
    const found = await copy.getProperties();
    assert.deepEqual([found.copyStatus, found.contentLength], ["aborted", 0]);
    assert.deepEqual([found.blobType, found.metadata], [type, { new: "yes" }]);
    await refused(copy.abortCopyFromURL(id), 409, "NoPendingCopyOperation");
    elsewhere.release();
    assert.equal((await copy.getProperties()).contentLength, 0);
    await copy.setMetadata({});
  }
});

test("aborting a copy ignores conditions and returns no ETag", async (t) => {
  t.after(close);
  for (const [name, value] of [
    ["if-match", '"0x8D0000000000000"'],
    ["if-none-match", "*"],
    ["if-modified-since", new Date(Date.now() + 3_600_000).toUTCString()],
    ["if-unmodified-since", new Date(0).toUTCString()],
  ] as const) {
    elsewhere.hold(0);
    const id = await begin();
    const answer = await rawRequest(server, {
      method: "PUT",
      path: `/${box.containerName}/copy?comp=copy&copyid=${id}`,
      headers: { "x-ms-copy-action": "abort", [name]: value },
    });
    assert.deepEqual([answer.status, answer.headers.get("etag")], [204, null], name);
    elsewhere.release();
  }
});

test("copying to a leased target, and aborting, requires the lease id", async (t) => {
  t.after(close);
  await copy.upload("old", 3);
  const { leaseId = "" } = await copy.getBlobLeaseClient().acquireLease(-1);
  elsewhere.hold(0);
  const id = await begin({ "x-ms-lease-id": leaseId });
  await refused(copy.abortCopyFromURL(id), 412, "LeaseIdMissing");
  await copy.abortCopyFromURL(id, { conditions: { leaseId } });
  assert.equal((await copy.getProperties()).leaseState, "leased");
});

test("page blobs and append blobs from elsewhere keep their type", async (t) => {
  t.after(close);
  elsewhere.bytes = randomBytes(1_024);
  elsewhere.headers["x-ms-blob-type"] = "PageBlob";
  elsewhere.headers["x-ms-blob-sequence-number"] = "5";
  await begin();
  const pages = await ended();
  assert.deepEqual([pages.blobType, pages.blobSequenceNumber], ["PageBlob", 5]);
  assert.ok((await copy.downloadToBuffer()).equals(elsewhere.bytes));
  await copy.delete();
  elsewhere.headers["x-ms-blob-type"] = "AppendBlob";
  elsewhere.headers["x-ms-blob-committed-block-count"] = "2";
  await begin();
  const log = await ended();
  assert.deepEqual([log.blobType, log.blobCommittedBlockCount], ["AppendBlob", 2]);
  await box.getAppendBlobClient("copy").appendBlock("x", 1);
  assert.equal((await copy.getProperties()).contentLength, 1_025);
});

const READING = '"Copy failed when reading the source."';

for (const ignoresMatch of [false, true]) {
  const server = ignoresMatch ? ", even if its server does not care for versions" : "";
  test(`a source that changes before its bytes have arrived fails the copy${server}`, async (t) => {
    t.after(close);
    elsewhere.ignoresMatch = ignoresMatch;
    elsewhere.hold(0);
    const held = elsewhere.held();
    await begin();
    await held;
    elsewhere.etag = '"two"';
    elsewhere.release();
    const found = await ended();
    assert.deepEqual([found.copyStatus, found.contentLength], ["failed", 0]);
    assert.equal(found.copyStatusDescription, `412 ConditionNotMet ${READING}`);
    await copy.upload("new", 3);
  });
}

test("a failed copy gives a reason that clients understand", async (t) => {
  t.after(close);
  elsewhere.hold(0);
  const held = elsewhere.held();
  await begin();
  await held;
  elsewhere.status = 404;
  elsewhere.headers = { "x-ms-error-code": "BlobNotFound" };
  elsewhere.release();
  assert.equal((await ended()).copyStatusDescription, `404 BlobNotFound ${READING}`);
});

test("metadata of a source keeps the case of its names, and must be valid for a blob", async (t) => {
  t.after(close);
  elsewhere.headers["X-Ms-Meta-TwoWords"] = "green";
  await begin();
  await ended();
  const [item] = await listed();
  assert.deepEqual(item?.metadata, { TwoWords: "green" });
  elsewhere.headers["x-ms-meta-two-words"] = "red";
  const asked = copy.syncCopyFromURL(`${elsewhere.origin}/object`);
  const error = await refused(asked, 400, "CannotVerifyCopySource");
  assert.equal(error.response?.headers.get("x-ms-copy-source-error-code"), "InvalidMetadata");
});

async function listed() {
  const found = [];
  for await (const item of box.listBlobsFlat({ includeMetadata: true })) found.push(item);
  return found;
}

test("a source that ends early fails the copy, and none of it shows", async (t) => {
  t.after(close);
  elsewhere.bytes = randomBytes(100_000);
  elsewhere.hold(50_000);
  const held = elsewhere.held();
  await begin();
  await held;
  await elsewhere.close();
  const found = await ended();
  assert.deepEqual([found.copyStatus, found.contentLength], ["failed", 0]);
});

test("every operation with a source URL accepts sources elsewhere", async (t) => {
  t.after(close);
  const url = `${elsewhere.origin}/object`;
  elsewhere.bytes = randomBytes(2_048);
  await copy.syncCopyFromURL(url);
  assert.ok((await copy.downloadToBuffer()).equals(elsewhere.bytes));
  await copy.syncUploadFromURL(url);
  assert.ok((await copy.downloadToBuffer()).equals(elsewhere.bytes));
  await copy.stageBlockFromURL("AAAA", url, 100, 50);
  await copy.commitBlockList(["AAAA"]);
  assert.ok((await copy.downloadToBuffer()).equals(elsewhere.bytes.subarray(100, 150)));
  const log = box.getAppendBlobClient("log");
  await log.create();
  await log.appendBlockFromURL(url, 0, 10);
  assert.ok((await log.downloadToBuffer()).equals(elsewhere.bytes.subarray(0, 10)));
  const pages = box.getPageBlobClient("pages");
  await pages.create(1_024);
  await pages.uploadPagesFromURL(url, 512, 0, 1_024);
  assert.ok((await pages.downloadToBuffer()).equals(elsewhere.bytes.subarray(512, 1_536)));
});

test("conditions on a source are judged by its server, and a token is sent only to it", async (t) => {
  t.after(close);
  const url = `${elsewhere.origin}/object`;
  const sourceConditions = { ifMatch: '"other"' };
  await refused(copy.syncCopyFromURL(url, { sourceConditions }), 412, "SourceConditionNotMet");
  const log = box.getAppendBlobClient("log");
  await log.create();
  const bytes = log.appendBlockFromURL(url, 0, 10, { sourceConditions });
  await refused(bytes, 412, "CannotVerifyCopySource");
  await copy.syncCopyFromURL(url, {
    sourceAuthorization: { scheme: "Bearer", value: "token" },
    sourceConditions: { ifMatch: '"one"' },
  });
  assert.equal(elsewhere.asked.at(-1)?.headers.authorization, "Bearer token");
});

test("the key of a source is sent to its server, and only over https to another machine", async (t) => {
  t.after(close);
  const key = testKey(1);
  const far = "http://192.0.2.1:8080";
  const careful = await startServer({ copyFrom: [far] });
  t.after(() => careful.close());
  const fetched = (at: TestServer, origin: string) =>
    rawRequest(at, {
      method: "PUT",
      path: `/${box.containerName}/copy?comp=block&blockid=AAAA`,
      headers: { "x-ms-copy-source": `${origin}/object`, ...key.sourceHeaders },
    });
  assert.equal((await fetched(server, elsewhere.origin)).status, 201);
  const { headers } = elsewhere.asked.at(-1) ?? assert.fail("nothing was asked");
  for (const [name, value] of Object.entries(key.headers)) assert.equal(headers[name], value);
  const answer = await fetched(careful, far);
  assert.deepEqual([answer.status, answer.code], [400, "InvalidHeaderValue"]);
  assert.match(answer.text, /x-ms-source-encryption-key.*with https/s);
});

test("a token is not sent over plain http to another machine", async (t) => {
  t.after(close);
  const far = "http://192.0.2.1:8080";
  const careful = await startServer({ copyFrom: [far] });
  t.after(() => careful.close());
  const target = careful.client().getContainerClient("box").getBlockBlobClient("copy");
  const sourceAuthorization = { scheme: "Bearer", value: "secret" };
  const asked = target.syncCopyFromURL(`${far}/object`, { sourceAuthorization });
  const error = await refused(asked, 400, "InvalidHeaderValue");
  const body = error.response?.bodyAsText ?? "";
  assert.match(body, /x-ms-copy-source-authorization.*with https/s);
  assert.doesNotMatch(body, /secret/);
});

test("a refusal of the source's server is reported, and redirects are not followed", async (t) => {
  t.after(close);
  const trap = await TestSource.start();
  t.after(() => trap.close());
  const url = `${elsewhere.origin}/object`;
  for (const [status, expected] of [
    [401, 401],
    [403, 403],
    [404, 404],
    [409, 409],
    [503, 500],
    [302, 500],
  ] as const) {
    elsewhere.status = status;
    elsewhere.headers = { location: `${trap.origin}/x`, "x-ms-error-code": "SomeCode" };
    const error = await refused(copy.syncCopyFromURL(url), expected, "CannotVerifyCopySource");
    assert.equal(error.response?.headers.get("x-ms-copy-source-status-code"), String(status));
    assert.equal(error.response?.headers.get("x-ms-copy-source-error-code"), "SomeCode");
  }
  assert.deepEqual(trap.asked, []);
  await refused(copy.syncCopyFromURL(`${trap.origin}/x`), 403, "CannotVerifyCopySource");
  assert.deepEqual(trap.asked, []);
});

test("write permission is checked before the source server is contacted", async (t) => {
  t.after(close);
  const stale = { ifMatch: '"0x8D000000000000"' };
  const url = `${elsewhere.origin}/object`;
  await refused(copy.syncCopyFromURL(url, { conditions: stale }), 412, "TargetConditionNotMet");
  const asked = rawRequest(server, {
    method: "PUT",
    path: `/${box.containerName}/copy`,
    headers: { "x-ms-copy-source": url, "if-match": '"0x8D000000000000"' },
  });
  assert.equal((await asked).code, "TargetConditionNotMet");
  assert.deepEqual(elsewhere.asked, []);
});
