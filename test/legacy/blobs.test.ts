import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { PassThrough, Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { test } from "node:test";
import azure from "azure-storage";
import { forThisFile, startServer } from "../sdk/server.ts";
import { answerOf, hostsOf, policyOf, refusedLegacy, statsOf } from "./legacy-answer.ts";

const server = await forThisFile(startServer());
const blobs = azure.createBlobService(server.account, server.key, hostsOf(server.url));
let count = 0;

type Blob = azure.BlobService.BlobResult;

async function makeContainer(options: object = {}): Promise<string> {
  const name = `legacy-${++count}`;
  await answerOf(blobs, "createContainer", name, options);
  return name;
}

function putText(container: string, blob: string, text: string, options: object = {}) {
  return answerOf<Blob>(blobs, "createBlockBlobFromText", container, blob, text, options);
}

function textOf(container: string, blob: string, options: object = {}): Promise<string> {
  return answerOf<string>(blobs, "getBlobToText", container, blob, options);
}

test("containers are created, listed, described and deleted", async () => {
  const name = await makeContainer({ metadata: { a: "b" }, publicAccessLevel: "blob" });
  const again = await answerOf<{ created: boolean }>(blobs, "createContainerIfNotExists", name);
  assert.equal(again.created, false);
  const list = await answerOf<azure.BlobService.ListContainerResult>(
    ...[blobs, "listContainersSegmentedWithPrefix", name, null, { include: "metadata" }],
  );
  assert.deepEqual(list.entries[0]?.metadata, { a: "b" });
  await answerOf(blobs, "setContainerMetadata", name, { c: "d" });
  const found = await answerOf<azure.BlobService.ContainerResult>(
    ...[blobs, "getContainerProperties", name],
  );
  assert.deepEqual([found.metadata, found.publicAccessLevel], [{ c: "d" }, "blob"]);
  await answerOf(blobs, "deleteContainer", name);
  assert.equal(await answerOf(blobs, "deleteContainerIfExists", name), false);
});

test("a text is put, read whole and in part, described and deleted", async () => {
  const container = await makeContainer();
  const name = "folder/a b ü.txt";
  const contentSettings = { contentType: "text/plain", cacheControl: "no-store" };
  await putText(container, name, "hello", { contentSettings, metadata: { m: "1" } });
  assert.equal(await textOf(container, name), "hello");
  assert.equal(await textOf(container, name, { rangeStart: 1, rangeEnd: 3 }), "ell");
  const found = await answerOf<Blob>(blobs, "getBlobProperties", container, name);
  assert.equal(found.contentSettings?.cacheControl, "no-store");
  await answerOf(blobs, "setBlobMetadata", container, name, { n: "2" });
  const { metadata } = await answerOf<Blob>(blobs, "getBlobMetadata", container, name);
  assert.deepEqual(metadata, { n: "2" });
  await answerOf(blobs, "deleteBlob", container, name);
  const exists = await answerOf<{ exists: boolean }>(blobs, "doesBlobExist", container, name);
  assert.equal(exists.exists, false);
});

test("a stream is uploaded in blocks and downloaded whole, with its MD5", async () => {
  const container = await makeContainer();
  const bytes = randomBytes(5 * 1024 * 1024 + 7);
  blobs.singleBlobPutThresholdInBytes = 1024 * 1024;
  const options = { blockSize: 1024 * 1024, storeBlobContentMD5: true };
  const source = Readable.from([bytes.subarray(0, 3_000_000), bytes.subarray(3_000_000)]);
  await answerOf(
    ...[blobs, "createBlockBlobFromStream", container, "big", source, bytes.length, options],
  );
  const blocks = await answerOf<azure.BlobService.BlockListResult>(
    ...[blobs, "listBlocks", container, "big", "all"],
  );
  assert.ok((blocks.CommittedBlocks?.length ?? 0) > 1);
  const sink = new PassThrough();
  const [found] = await Promise.all([
    buffer(sink),
    answerOf(blobs, "getBlobToStream", container, "big", sink),
  ]);
  assert.ok(found.equals(bytes));
});

test("blocks are staged, and committed in the requested order", async () => {
  const container = await makeContainer();
  for (const [id, text] of [
    ["AAAA", "one"],
    ["BBBB", "two"],
  ]) {
    await answerOf(blobs, "createBlockFromText", id, container, "b", text);
  }
  await answerOf(blobs, "commitBlocks", container, "b", { LatestBlocks: ["BBBB", "AAAA"] });
  assert.equal(await textOf(container, "b"), "twoone");
});

test("a write with an old ETag, or onto an existing blob, is refused", async () => {
  const container = await makeContainer();
  const { etag } = await putText(container, "b", "1");
  const ifMatch = { accessConditions: azure.AccessCondition.generateIfMatchCondition(etag) };
  await putText(container, "b", "2", ifMatch);
  await refusedLegacy(putText(container, "b", "3", ifMatch), 412, "ConditionNotMet");
  const ifNew = { accessConditions: azure.AccessCondition.generateIfNotExistsCondition() };
  await refusedLegacy(putText(container, "b", "3", ifNew), 409, "BlobAlreadyExists");
  assert.equal(await textOf(container, "b"), "2");
});

test("a lease prevents other writes until it is broken or expires", async () => {
  const container = await makeContainer();
  await putText(container, "b", "1");
  const lease = (method: string, ...sent: unknown[]) =>
    answerOf<azure.BlobService.LeaseResult>(blobs, method, container, "b", ...sent);
  const { id: leaseId } = await lease("acquireLease", { leaseDuration: 15 });
  await refusedLegacy(putText(container, "b", "2"), 412, "LeaseIdMissing");
  await putText(container, "b", "2", { leaseId });
  await refusedLegacy(lease("acquireLease", {}), 409, "LeaseAlreadyPresent");
  await lease("renewLease", leaseId);
  server.clock.advance(15_000);
  await putText(container, "b", "3");
  const second = await lease("acquireLease", {});
  assert.equal(Number((await lease("breakLease", { leaseBreakPeriod: 0 })).time), 0);
  await lease("releaseLease", second.id);
});

test("page blobs are written, cleared, measured and resized", async () => {
  const container = await makeContainer();
  const on = (method: string, ...sent: unknown[]) =>
    answerOf(blobs, method, container, "p", ...sent);
  await on("createPageBlob", 2_048);
  await on("createPagesFromStream", Readable.from([Buffer.alloc(1_024, 7)]), 512, 1_535);
  await on("clearPageRange", 512, 1_023);
  assert.deepEqual(await on("listPageRanges"), [{ start: 1_024, end: 1_535 }]);
  await on("resizePageBlob", 4_096);
  const found = (await on("getBlobProperties")) as Blob;
  assert.deepEqual([found.contentLength, found.blobType], ["4096", "PageBlob"]);
});

test("append blobs grow only at the position that the writer expects", async () => {
  const container = await makeContainer();
  const on = (method: string, ...sent: unknown[]) =>
    answerOf(blobs, method, container, "l", ...sent);
  await on("createOrReplaceAppendBlob");
  await on("appendFromText", "one");
  await on("appendBlockFromText", "two", { appendPosition: 3 });
  const late = on("appendBlockFromText", "too", { appendPosition: 3 });
  await refusedLegacy(late, 412, "AppendPositionConditionNotMet");
  assert.equal(await textOf(container, "l"), "onetwo");
});

test("blobs are listed flat and by folder, page by page", async () => {
  const container = await makeContainer();
  for (const name of ["a/1", "a/2", "b", "c"]) await putText(container, name, name);
  const names: string[] = [];
  for (let token: object | null = null; ; ) {
    const page: azure.BlobService.ListBlobsResult = await answerOf(
      ...([blobs, "listBlobsSegmented", container, token, { maxResults: 3 }] as const),
    );
    names.push(...page.entries.map(({ name }) => name));
    token = page.continuationToken ?? null;
    if (token === null) break;
  }
  assert.deepEqual(names, ["a/1", "a/2", "b", "c"]);
  const folders = await answerOf<azure.BlobService.ListBlobsResult>(
    ...[blobs, "listBlobDirectoriesSegmented", container, null],
  );
  assert.deepEqual(
    folders.entries.map(({ name }) => name),
    ["a/"],
  );
});

test("a SAS permits what it names, alone or by a stored policy", async () => {
  const container = await makeContainer();
  await putText(container, "b", "1");
  const sas = blobs.generateSharedAccessSignature(container, "b", policyOf("r"));
  const reader = azure.createBlobServiceWithSas(server.url, sas);
  assert.equal(await answerOf(reader, "getBlobToText", container, "b"), "1");
  const write = answerOf(reader, "createBlockBlobFromText", container, "b", "2");
  await refusedLegacy(write, 403, "AuthorizationPermissionMismatch");

  const { AccessPolicy } = policyOf("w");
  await answerOf(blobs, "setContainerAcl", container, { writer: AccessPolicy });
  const policy = { Id: "writer" } as azure.common.SharedAccessPolicy;
  const stored = blobs.generateSharedAccessSignature(container, "", policy);
  const writer = azure.createBlobServiceWithSas(server.url, stored);
  await answerOf(writer, "createBlockBlobFromText", container, "c", "2");
  assert.equal(await textOf(container, "c"), "2");
});

test("anonymous callers read from a public container", async () => {
  const container = await makeContainer({ publicAccessLevel: "blob" });
  await putText(container, "b", "open");
  const anybody = azure.createBlobServiceAnonymous(server.url);
  assert.equal(await answerOf(anybody, "getBlobToText", container, "b"), "open");
});

test("service properties and stats are read and written", async () => {
  const HourMetrics = {
    Version: "1.0",
    Enabled: true,
    IncludeAPIs: false,
    RetentionPolicy: { Enabled: false },
  };
  const asked = { HourMetrics, DefaultServiceVersion: "2018-03-28" };
  await answerOf(blobs, "setServiceProperties", asked);
  const found = await answerOf<typeof asked>(blobs, "getServiceProperties");
  assert.deepEqual(found.HourMetrics, HourMetrics);
  assert.equal(found.DefaultServiceVersion, "2018-03-28");
  const stats = await statsOf(blobs);
  assert.equal(stats.GeoReplication?.Status, "live");
});
