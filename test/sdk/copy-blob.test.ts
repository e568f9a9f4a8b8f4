import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { beforeEach, test } from "node:test";
import type { BlockBlobClient, ContainerClient } from "@azure/storage-blob";
import { rawRequest } from "./raw-request.ts";
import { refused } from "./refused.ts";
import { forThisFile, OTHER_ACCOUNT, startServer } from "./server.ts";

const server = await forThisFile(startServer());
let box: ContainerClient;
let source: BlockBlobClient;
let copy: BlockBlobClient;

beforeEach(async () => {
  box = await server.makeContainer();
  source = box.getBlockBlobClient("source");
  copy = box.getBlockBlobClient("copy");
  await source.upload("hello", 5, { metadata: { colour: "blue" } });
});

async function start(
  url = source.url,
  more: Parameters<BlockBlobClient["beginCopyFromURL"]>[1] = {},
) {
  return (await copy.beginCopyFromURL(url, more)).pollUntilDone();
}

test("a blob on this server is copied at once, and both the blob and the list show it", async () => {
  const done = await start();
  assert.equal(done.copyStatus, "success");
  const found = await copy.getProperties();
  assert.deepEqual([found.copyId, found.copyStatus], [done.copyId, "success"]);
  assert.deepEqual([found.copySource, found.copyProgress], [source.url, "5/5"]);
  assert.deepEqual(found.metadata, { colour: "blue" });
  assert.equal((await copy.downloadToBuffer()).toString(), "hello");
  const listed = [];
  for await (const blob of box.listBlobsFlat({ includeCopy: true })) listed.push(blob.properties);
  assert.equal(listed[0]?.copyId, done.copyId);
  assert.equal(listed[0]?.copyStatus, "success");
  assert.equal(listed[0]?.copyProgress, "5/5");
  assert.equal(listed[0]?.copySource, source.url);
  assert.ok(listed[0]?.copyCompletedOn !== undefined);
  assert.equal(listed[1]?.copyId, undefined);
  for await (const blob of box.listBlobsFlat()) assert.equal(blob.properties.copyId, undefined);
});

test("replacing a copy or setting its properties clears its copy status", async () => {
  const changes: [() => Promise<unknown>, boolean][] = [
    [() => copy.setMetadata({ a: "b" }), true],
    [() => copy.setHTTPHeaders({ blobContentType: "text/html" }), false],
    [() => copy.upload("new", 3), false],
    [() => copy.commitBlockList([]), false],
  ];
  for (const [change, remembers] of changes) {
    await start();
    await change();
    assert.equal((await copy.getProperties()).copyId !== undefined, remembers);
  }
});

test("pages are copied with sequence number and gaps, and both blobs change independently", async () => {
  const pages = box.getPageBlobClient("pages");
  await pages.create(4_096, { blobSequenceNumber: 7 });
  await pages.uploadPages(Buffer.alloc(512, 1), 1_024, 512);
  await start(pages.url);
  const made = box.getPageBlobClient("copy");
  await pages.uploadPages(Buffer.alloc(512, 2), 1_024, 512);
  await made.uploadPages(Buffer.alloc(512, 3), 0, 512);
  const found = await made.getProperties();
  assert.deepEqual([found.blobType, found.blobSequenceNumber], ["PageBlob", 7]);
  const { pageRange = [] } = await made.getPageRanges();
  assert.deepEqual(
    pageRange.map(({ offset }) => offset),
    [0, 1_024],
  );
  assert.deepEqual(await made.downloadToBuffer(1_024, 512), Buffer.alloc(512, 1));
  assert.deepEqual(await pages.downloadToBuffer(0, 512), Buffer.alloc(512));
});

test("an append blob is copied with its blocks, accepts more, and is sealed on request", async () => {
  const log = box.getAppendBlobClient("log");
  await log.create();
  for (const text of ["one", "two"]) await log.appendBlock(text, 3);
  await start(log.url);
  const made = box.getAppendBlobClient("copy");
  const more = await made.appendBlock("six", 3);
  assert.deepEqual([more.blobAppendOffset, more.blobCommittedBlockCount], ["6", 3]);
  assert.equal((await made.downloadToBuffer()).toString(), "onetwosix");
  await start(log.url, { sealBlob: true });
  await refused(made.appendBlock("x", 1), 409, "BlobIsSealed");
});

test("a copy of a sealed blob is sealed unless the request says otherwise", async () => {
  const log = box.getAppendBlobClient("log");
  await log.create();
  await log.seal();
  const made = box.getAppendBlobClient("copy");
  for (const [sealBlob, isSealed] of [
    [undefined, true],
    [false, undefined],
    [true, true],
  ] as const) {
    await start(log.url, sealBlob === undefined ? {} : { sealBlob });
    assert.equal((await made.getProperties()).isSealed, isSealed, `seal: ${sealBlob}`);
  }
});

test("copying to a blob of another type is refused", async () => {
  await box.getPageBlobClient("copy").create(512);
  await refused(start(), 409, "InvalidBlobType");
  assert.equal((await copy.getProperties()).blobType, "PageBlob");
});

test("a blob can be copied onto itself, with other metadata", async () => {
  const bytes = randomBytes(100_000);
  await copy.uploadData(bytes, { metadata: { old: "yes" } });
  const { etag } = await copy.getProperties();
  await start(copy.url, { metadata: { old: "no" } });
  const found = await copy.getProperties();
  assert.notEqual(found.etag, etag);
  assert.deepEqual(found.metadata, { old: "no" });
  assert.deepEqual(await copy.downloadToBuffer(), bytes);
});

test("uncommitted blocks cannot be copied, and a copy discards those of its target", async () => {
  const staged = box.getBlockBlobClient("staged");
  await staged.stageBlock("AAAA", "text", 4);
  await refused(start(staged.url), 404, "CannotVerifyCopySource");
  await copy.stageBlock("AAAA", "text", 4);
  await start();
  await refused(copy.commitBlockList(["AAAA"]), 400, "InvalidBlockList");
});

test("committed blocks are copied as blocks", async () => {
  const ids = ["AAAA", "BBBB"];
  for (const id of ids) await source.stageBlock(id, id, 4);
  await source.commitBlockList(ids);
  await start();
  const { committedBlocks = [] } = await copy.getBlockList("committed");
  assert.deepEqual(
    committedBlocks.map(({ name }) => name),
    ids,
  );
  await copy.commitBlockList(["BBBB"]);
  assert.equal((await copy.downloadToBuffer()).toString(), "BBBB");
  assert.equal((await source.downloadToBuffer()).toString(), "AAAABBBB");
});

test("a target with a finite lease is refused, an infinite lease accepts the copy with its id", async () => {
  await copy.upload("old", 3);
  const lease = copy.getBlobLeaseClient();
  const { leaseId = "" } = await lease.acquireLease(15);
  const conditions = { leaseId };
  await refused(start(source.url), 412, "LeaseIdMissing");
  await refused(start(source.url, { conditions }), 412, "InfiniteLeaseDurationRequired");
  await lease.releaseLease();
  const held = await lease.acquireLease(-1);
  await start(source.url, { conditions: { leaseId: held.leaseId ?? "" } });
  assert.equal((await copy.getProperties()).leaseState, "leased");
});

test("conditions on the source and on the target are separate", async () => {
  await copy.upload("old", 3);
  const stale = { ifMatch: '"0x8D000000000000"' };
  await refused(start(source.url, { sourceConditions: stale }), 412, "SourceConditionNotMet");
  await refused(start(source.url, { conditions: stale }), 412, "TargetConditionNotMet");
  const none = { conditions: { ifNoneMatch: "*" } };
  await refused(start(source.url, none), 409, "BlobAlreadyExists");
  const many = await rawRequest(server, {
    method: "PUT",
    path: `/${box.containerName}/copy`,
    headers: {
      "x-ms-copy-source": source.url,
      "x-ms-source-if-match": '"a"',
      "x-ms-source-if-none-match": '"b"',
    },
  });
  assert.deepEqual([many.status, many.code], [400, "MultipleConditionHeadersNotSupported"]);
});

test("each of the four conditions on a source decides whether it is copied", async () => {
  const { etag = "", lastModified = new Date() } = await source.getProperties();
  const earlier = new Date(lastModified.getTime() - 10_000);
  const other = '"0x8D0000000000000"';
  for (const [met, unmet] of [
    [{ ifMatch: etag }, { ifMatch: other }],
    [{ ifNoneMatch: other }, { ifNoneMatch: etag }],
    [{ ifModifiedSince: earlier }, { ifModifiedSince: lastModified }],
    [{ ifUnmodifiedSince: lastModified }, { ifUnmodifiedSince: earlier }],
  ] as const) {
    await copy.upload("old", 3);
    const refusal = start(source.url, { sourceConditions: unmet });
    await refused(refusal, 412, "SourceConditionNotMet");
    assert.equal((await copy.downloadToBuffer()).toString(), "old");
    await start(source.url, { sourceConditions: met });
    assert.equal((await copy.downloadToBuffer()).toString(), "hello");
  }
});

test("other blob types cannot be sealed by a copy", async () => {
  const pages = box.getPageBlobClient("pages");
  await pages.create(512);
  for (const { url } of [source, pages]) {
    await refused(start(url, { sealBlob: true }), 409, "InvalidSourceBlobType");
  }
  assert.equal(await copy.exists(), false);
});

test("clients before version 2012-02-12 copy within an account only", async () => {
  const path = `/${box.containerName}/copy`;
  for (const source of [
    `/${OTHER_ACCOUNT}/box/source`,
    `${server.url.replace(server.account, OTHER_ACCOUNT)}/box/source`,
    "https://elsewhere.example/source",
  ]) {
    const headers = { "x-ms-copy-source": source, "content-length": "0" };
    const old = await rawRequest(server, { method: "PUT", path, headers, version: "2011-08-18" });
    assert.deepEqual([old.status, old.code], [400, "CopyAcrossAccountsNotSupported"], source);
  }
});

test("clients before version 2012-02-12 name sources by path, and copies finish at once", async () => {
  const path = `/${box.containerName}/copy`;
  const headers = {
    "x-ms-copy-source": `/${server.account}/${box.containerName}/source`,
    "content-length": "0",
  };
  const old = await rawRequest(server, { method: "PUT", path, headers, version: "2011-08-18" });
  assert.equal(old.status, 201);
  assert.equal(old.headers.get("x-ms-copy-id"), null);
  assert.equal((await copy.downloadToBuffer()).toString(), "hello");
  const { "content-length": _, ...newer } = headers;
  const now = await rawRequest(server, { method: "PUT", path, headers: newer });
  assert.deepEqual([now.status, now.code], [400, "InvalidHeaderValue"]);
});

test("a finished copy cannot be aborted", async () => {
  const { copyId = "" } = await start();
  await refused(copy.abortCopyFromURL(copyId), 409, "NoPendingCopyOperation");
  await refused(source.abortCopyFromURL(copyId), 409, "NoPendingCopyOperation");
  await refused(box.getBlobClient("none").abortCopyFromURL(copyId), 404, "BlobNotFound");
  const path = `/${box.containerName}/copy?comp=copy`;
  const abort = { "x-ms-copy-action": "abort" };
  for (const [query, headers, code] of [
    ["", abort, "MissingRequiredQueryParameter"],
    ["&copyid=x", {}, "MissingRequiredHeader"],
    ["&copyid=x", { "x-ms-copy-action": "stop" }, "InvalidHeaderValue"],
  ] as const) {
    const answer = await rawRequest(server, { method: "PUT", path: path + query, headers });
    assert.deepEqual([answer.status, answer.code], [400, code]);
  }
});
