import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { beforeEach, test } from "node:test";
import {
  BlobSASPermissions,
  BlobServiceClient,
  type BlockBlobClient,
  type ContainerClient,
  generateBlobSASQueryParameters,
  StorageSharedKeyCredential,
} from "@azure/storage-blob";
import { rawRequest } from "./raw-request.ts";
import { refused } from "./refused.ts";
import { CREDENTIAL, forThisFile, KEY, OTHER_ACCOUNT, startServer } from "./server.ts";

const MIB = 1024 * 1024;
const server = await forThisFile(startServer());
let box: ContainerClient;
let source: BlockBlobClient;
const count = 0;

beforeEach(async () => {
  box = await server.makeContainer();
  source = box.getBlockBlobClient("source");
  await source.upload("hello", 5, {
    metadata: { colour: "blue" },
    blobHTTPHeaders: { blobContentType: "text/plain", blobContentLanguage: "en" },
  });
});

function sasOf(letters: string, name = "source"): string {
  return generateBlobSASQueryParameters(
    {
      containerName: box.containerName,
      blobName: name,
      permissions: BlobSASPermissions.parse(letters),
      expiresOn: new Date(Date.now() + 3_600_000),
    },
    CREDENTIAL,
  ).toString();
}

async function textOf(blob: BlockBlobClient): Promise<string> {
  return (await blob.downloadToBuffer()).toString();
}

/** Makes a container of another account on the same server. */
async function otherBox(): Promise<ContainerClient> {
  const url = server.url.replace(server.account, OTHER_ACCOUNT);
  const credential = new StorageSharedKeyCredential(OTHER_ACCOUNT, KEY);
  const other = new BlobServiceClient(url, credential, { retryOptions: { maxTries: 1 } });
  const container = other.getContainerClient(`box${count}`);
  await container.createIfNotExists();
  return container;
}

test("a copy has the source's bytes, properties and metadata, and is complete at once", async () => {
  const copy = box.getBlockBlobClient("copy");
  const done = await copy.syncCopyFromURL(source.url);
  assert.equal(done.copyStatus, "success");
  const found = await copy.getProperties();
  assert.equal(await textOf(copy), "hello");
  assert.deepEqual(found.metadata, { colour: "blue" });
  assert.deepEqual([found.contentType, found.contentLanguage], ["text/plain", "en"]);
  assert.equal(found.copyId, done.copyId);
  assert.equal(found.copyStatus, "success");
  assert.equal(found.copyProgress, "5/5");
  assert.equal(found.copySource, source.url);
  assert.ok(found.copyCompletedOn !== undefined);
  assert.equal(found.etag, done.etag);
});

test("metadata sent with a copy replaces the source's", async () => {
  const copy = box.getBlockBlobClient("copy");
  await copy.syncCopyFromURL(source.url, { metadata: { size: "small" } });
  assert.deepEqual((await copy.getProperties()).metadata, { size: "small" });
});

test("a copy is independent: later changes to the source do not show", async () => {
  const bytes = randomBytes(300_000);
  await source.uploadData(bytes);
  const copy = box.getBlockBlobClient("copy");
  await copy.syncCopyFromURL(source.url);
  await source.upload("changed", 7);
  await source.delete();
  assert.deepEqual(await copy.downloadToBuffer(), bytes);
});

test("the copy does not reveal the credentials for its source", async () => {
  const copy = box.getBlockBlobClient("copy");
  await copy.syncCopyFromURL(`${source.url}?${sasOf("r")}`);
  assert.equal((await copy.getProperties()).copySource, source.url);
});

test("the owner of another account needs a SAS or public access to copy", async () => {
  const other = await otherBox();
  const copy = other.getBlockBlobClient("copy");
  const noSas = await refused(copy.syncCopyFromURL(source.url), 401, "CannotVerifyCopySource");
  assert.equal(
    noSas.response?.headers.get("x-ms-copy-source-error-code"),
    "NoAuthenticationInformation",
  );
  assert.equal(noSas.response?.headers.get("x-ms-copy-source-status-code"), "401");
  assert.match(noSas.message, /^Server failed to authenticate the request\. Please refer to/);
  const noRead = copy.syncCopyFromURL(`${source.url}?${sasOf("w")}`);
  const { message } = await refused(noRead, 403, "CannotVerifyCopySource");
  assert.match(message, /^This request is not authorized to .* using this permission\.\n/);
  const forged = `${source.url}?${sasOf("r").replace(/sig=[^&]*/, "sig=AAAA")}`;
  await refused(copy.syncCopyFromURL(forged), 403, "CannotVerifyCopySource");
  await copy.syncCopyFromURL(`${source.url}?${sasOf("r")}`);
  assert.equal(await textOf(copy), "hello");
  await box.setAccessPolicy("blob");
  await other.getBlockBlobClient("open").syncCopyFromURL(source.url);
});

test("a SAS for the target does not grant the source", async () => {
  const target = box.getBlockBlobClient("copy");
  const { status, code } = await rawRequest(server, {
    method: "PUT",
    path: `/${box.containerName}/copy?${sasOf("cw", "copy")}`,
    headers: { "x-ms-copy-source": source.url, "x-ms-requires-sync": "true" },
    signed: false,
  });
  assert.deepEqual([status, code], [401, "CannotVerifyCopySource"]);
  assert.equal(await target.exists(), false);
});

test("a missing source gets 404, and an unknown account 401", async () => {
  const copy = box.getBlockBlobClient("copy");
  const missing = await refused(
    copy.syncCopyFromURL(box.getBlobClient("missing").url),
    404,
    "CannotVerifyCopySource",
  );
  assert.equal(missing.response?.headers.get("x-ms-copy-source-error-code"), "BlobNotFound");
  assert.match(missing.message, /^The specified blob does not exist\.\n/);
  const noContainer = server.client().getContainerClient("nowhere").getBlobClient("blob").url;
  await refused(copy.syncCopyFromURL(noContainer), 404, "CannotVerifyCopySource");
  const nobody = source.url.replace(server.account, "nobody");
  await refused(copy.syncCopyFromURL(nobody), 401, "CannotVerifyCopySource");
});

test("a source elsewhere is refused with the setting that would permit it", async () => {
  const copy = box.getBlockBlobClient("copy");
  for (const url of ["https://example.org/blob", "http://127.0.0.1:9/account/c/b"]) {
    const error = await refused(copy.syncCopyFromURL(url), 403, "CannotVerifyCopySource");
    assert.match(String(error.details && JSON.stringify(error.details)), /copySources\.origins/);
  }
});

test("a URL that names no blob is refused", async () => {
  const copy = box.getBlockBlobClient("copy");
  for (const url of [
    "blob",
    "ftp://host/x",
    "http://user@host/x",
    `http://h/${"x".repeat(2_100)}`,
  ]) {
    await refused(copy.syncCopyFromURL(url), 400, "InvalidHeaderValue");
  }
  await refused(
    copy.syncCopyFromURL(`${box.url}?restype=container`),
    400,
    "CannotVerifyCopySource",
  );
});

test("host style and path style name the same source", async () => {
  const { port } = new URL(server.url);
  const copy = box.getBlockBlobClient("copy");
  const path = `${box.containerName}/source`;
  for (const url of [
    `http://localhost:${port}/${server.account}/${path}`,
    `http://${server.account}.blob.localhost:${port}/${path}`,
    `http://[::1]:${port}/${server.account}/${path}`,
  ]) {
    await copy.syncCopyFromURL(url);
  }
  assert.equal(await textOf(copy), "hello");
});

test("names with slashes, spaces and non-ASCII letters are copied unchanged", async () => {
  for (const name of ["a//b/", "ein Käse", "100%", "q?x", "a+b"]) {
    const odd = box.getBlockBlobClient(name);
    await odd.upload(name, Buffer.byteLength(name));
    const path = name.split("/").map(encodeURIComponent).join("/");
    const copy = box.getBlockBlobClient("copy");
    await copy.syncCopyFromURL(`${box.url}/${path}`);
    assert.equal(await textOf(copy), name);
  }
});

test("refusals tell source conditions from target conditions", async () => {
  const copy = box.getBlockBlobClient("copy");
  await copy.upload("old", 3);
  const { etag: sourceEtag = "", lastModified } = await source.getProperties();
  const { etag = "" } = await copy.getProperties();
  const before = new Date((lastModified?.getTime() ?? 0) - 10_000);
  const later = new Date((lastModified?.getTime() ?? 0) + 10_000);
  for (const sourceConditions of [
    { ifMatch: etag },
    { ifNoneMatch: sourceEtag },
    { ifModifiedSince: later },
    { ifUnmodifiedSince: before },
  ]) {
    const asked = copy.syncCopyFromURL(source.url, { sourceConditions });
    await refused(asked, 412, "SourceConditionNotMet");
  }
  for (const conditions of [{ ifMatch: sourceEtag }, { ifNoneMatch: etag }]) {
    const asked = copy.syncCopyFromURL(source.url, { conditions });
    await refused(asked, 412, "TargetConditionNotMet");
  }
  const none = copy.syncCopyFromURL(source.url, { conditions: { ifNoneMatch: "*" } });
  await refused(none, 409, "BlobAlreadyExists");
  assert.equal(await textOf(copy), "old");
  await copy.syncCopyFromURL(source.url, {
    conditions: { ifMatch: etag },
    sourceConditions: { ifMatch: sourceEtag, ifUnmodifiedSince: later },
  });
  assert.equal(await textOf(copy), "hello");
});

test("copying to a leased target requires the lease id", async () => {
  const copy = box.getBlockBlobClient("copy");
  await copy.upload("old", 3);
  const { leaseId = "" } = await copy.getBlobLeaseClient().acquireLease(15);
  await refused(copy.syncCopyFromURL(source.url), 412, "LeaseIdMissing");
  await copy.syncCopyFromURL(source.url, { conditions: { leaseId } });
  assert.equal((await copy.getProperties()).leaseState, "leased");
});

test("a digest of the source is checked", async () => {
  const copy = box.getBlockBlobClient("copy");
  const md5 = createHash("md5").update("hello").digest();
  const wrong = copy.syncCopyFromURL(source.url, { sourceContentMD5: randomBytes(16) });
  await refused(wrong, 400, "Md5Mismatch");
  assert.equal(await copy.exists(), false);
  await copy.syncCopyFromURL(source.url, { sourceContentMD5: md5 });
  assert.equal(await textOf(copy), "hello");
});

test("Copy Blob From URL accepts block blobs only, at both ends", async () => {
  const pages = box.getPageBlobClient("pages");
  await pages.create(512);
  const copy = box.getBlockBlobClient("copy");
  await refused(copy.syncCopyFromURL(pages.url), 409, "InvalidSourceBlobType");
  await refused(pages.syncCopyFromURL(source.url), 409, "InvalidBlobType");
});

test("a source too large for one step is a conflict, and Copy Blob accepts it", async () => {
  const pages = box.getPageBlobClient("pages");
  const large = box.getBlockBlobClient("large");
  const copy = box.getBlockBlobClient("copy");
  await pages.create(256 * MIB + 512);
  await large.stageBlockFromURL("AAAA", pages.url);
  await large.commitBlockList(["AAAA"]);
  await refused(copy.syncCopyFromURL(large.url), 409, "CannotVerifyCopySource");
  const path = `/${box.containerName}/copy`;
  const headers = { "x-ms-copy-source": large.url, "x-ms-blob-type": "BlockBlob" };
  const old = await rawRequest(server, { method: "PUT", path, headers, version: "2018-11-09" });
  assert.deepEqual([old.status, old.code], [409, "CannotVerifyCopySource"]);
  assert.match(old.text, /Copy Blob, or in blocks.*<MaxLimit>268435456</s);
  await (await copy.beginCopyFromURL(large.url)).pollUntilDone();
  assert.equal((await copy.getProperties()).contentLength, 256 * MIB + 512);
});

test("Put Blob From URL makes a block blob from any blob, with its properties", async () => {
  const copy = box.getBlockBlobClient("copy");
  await copy.syncUploadFromURL(source.url);
  const found = await copy.getProperties();
  assert.deepEqual([found.contentType, found.contentLanguage], ["text/plain", "en"]);
  assert.equal(found.copyId, undefined);
  assert.equal(await textOf(copy), "hello");

  const pages = box.getPageBlobClient("pages");
  await pages.create(1_024);
  await pages.uploadPages(Buffer.alloc(512, 1), 512, 512);
  await copy.syncUploadFromURL(pages.url, { metadata: { colour: "red" } });
  await pages.clearPages(512, 512);
  assert.deepEqual(
    await copy.downloadToBuffer(),
    Buffer.concat([Buffer.alloc(512), Buffer.alloc(512, 1)]),
  );
  const made = await copy.getProperties();
  assert.deepEqual([made.blobType, made.metadata], ["BlockBlob", { colour: "red" }]);
});

test("Put Blob From URL takes the properties it is sent, or none of the source's", async () => {
  const copy = box.getBlockBlobClient("copy");
  await copy.syncUploadFromURL(source.url, { blobHTTPHeaders: { blobContentType: "text/html" } });
  let found = await copy.getProperties();
  assert.deepEqual([found.contentType, found.contentLanguage], ["text/html", "en"]);
  await copy.syncUploadFromURL(source.url, { copySourceBlobProperties: false });
  found = await copy.getProperties();
  assert.deepEqual(
    [found.contentType, found.contentLanguage],
    ["application/octet-stream", undefined],
  );
});

test("Put Blob From URL checks conditions, leases and digests like Put Blob", async () => {
  const copy = box.getBlockBlobClient("copy");
  await copy.upload("old", 3);
  const conditions = { ifMatch: '"0x8D000000000000"' };
  await refused(copy.syncUploadFromURL(source.url, { conditions }), 412, "TargetConditionNotMet");
  const sourceConditions = { ifMatch: '"0x8D000000000000"' };
  await refused(
    copy.syncUploadFromURL(source.url, { sourceConditions }),
    412,
    "SourceConditionNotMet",
  );
  const { lastModified = new Date() } = await source.getProperties();
  const [before, later] = [-900_000, 900_000].map((ms) => new Date(lastModified.getTime() + ms));
  const uploadIf = (more: object) => copy.syncUploadFromURL(source.url, more);
  for (const [dates, code, status] of [
    [{ ifModifiedSince: later }, "ConditionNotMet", 304],
    [{ ifUnmodifiedSince: before }, "ConditionNotMet", 412],
  ] as const) {
    await refused(uploadIf({ conditions: dates }), 412, code);
    await refused(uploadIf({ sourceConditions: dates }), status, "CannotVerifyCopySource");
  }
  const exists = copy.syncUploadFromURL(source.url, { conditions: { ifNoneMatch: "*" } });
  await refused(exists, 409, "BlobAlreadyExists");
  const wrong = copy.syncUploadFromURL(source.url, { sourceContentMD5: randomBytes(16) });
  await refused(wrong, 400, "Md5Mismatch");
  const blobHTTPHeaders = { blobContentMD5: randomBytes(4) };
  await refused(copy.syncUploadFromURL(source.url, { blobHTTPHeaders }), 400, "InvalidMd5");
  await copy.getBlobLeaseClient().acquireLease(-1);
  await refused(copy.syncUploadFromURL(source.url), 412, "LeaseIdMissing");
  assert.equal(await textOf(copy), "old");
});

test("only a block blob is put from a URL, and the request has no body", async () => {
  const headers = { "x-ms-copy-source": source.url, "x-ms-blob-type": "PageBlob" };
  const path = `/${box.containerName}/copy`;
  const page = await rawRequest(server, { method: "PUT", path, headers });
  assert.deepEqual([page.status, page.code], [400, "InvalidHeaderValue"]);
  const block = { ...headers, "x-ms-blob-type": "BlockBlob" };
  const body = await rawRequest(server, { method: "PUT", path, headers: block, body: "text" });
  assert.deepEqual([body.status, body.code], [400, "InvalidHeaderValue"]);
});
