import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import {
  type BlobItem,
  BlobSASPermissions,
  type BlobServiceClient,
  type ContainerClient,
  type ContainerListBlobsOptions,
  generateBlobSASQueryParameters,
} from "@azure/storage-blob";
import { DAY_MS } from "../../src/base/limits.ts";
import { rawRequest } from "./raw-request.ts";
import { refused } from "./refused.ts";
import { CREDENTIAL, startServer, type TestServer } from "./server.ts";
import { sweep } from "./sweep.ts";

const VERSIONING = { versioning: true, containerRetentionDays: null };
const NO_VERSIONING = { versioning: false, containerRetentionDays: null };
const NEVER = "2020-01-01T00:00:00.0000000Z";

let server: TestServer;
let client: BlobServiceClient;
let container: ContainerClient;

beforeEach(() => start(NO_VERSIONING));

async function start(blob: { versioning: boolean; containerRetentionDays: number | null }) {
  await server?.close();
  server = await startServer({ blob });
  client = server.client();
  container = client.getContainerClient("box");
  await container.create();
  await client.setProperties({ deleteRetentionPolicy: { enabled: true, days: 7 } });
}

after(async () => {
  assert.deepEqual(server.failures, []);
  await server.close();
});

async function newBlob(name: string, ...texts: string[]) {
  const blob = container.getBlockBlobClient(name);
  for (const text of texts) await blob.upload(text, text.length);
  return blob;
}

async function list(options: ContainerListBlobsOptions, maxPageSize = 5_000): Promise<BlobItem[]> {
  const items: BlobItem[] = [];
  for await (const page of container.listBlobsFlat(options).byPage({ maxPageSize })) {
    items.push(...page.segment.blobItems);
  }
  return items;
}

const EVERYTHING = { includeDeleted: true, includeSnapshots: true, includeVersions: true };

/** Formats `name` for a blob, `name@` for a snapshot, with `-` in front if it is deleted. */
function formatted({ name, snapshot, versionId, deleted }: BlobItem): string {
  const state = snapshot ? "@" : versionId ? "#" : "";
  return `${deleted ? "-" : ""}${name}${state}`;
}

test("a deleted blob is gone, is listed on request, and can be restored", async () => {
  const blob = await newBlob("blob", "text");
  await blob.setMetadata({ colour: "blue" });
  const { etag } = await blob.getProperties();
  await blob.delete();
  await refused(blob.getProperties(), 404, "BlobNotFound");
  await refused(blob.downloadToBuffer(), 404, "BlobNotFound");
  await refused(blob.delete(), 404, "BlobNotFound");
  assert.deepEqual(await list({}), []);
  server.clock.advance(DAY_MS);
  const [listed] = await list({ includeDeleted: true, includeMetadata: true });
  assert.deepEqual([listed?.name, listed?.deleted, listed?.snapshot || ""], ["blob", true, ""]);
  assert.equal(listed?.properties.remainingRetentionDays, 6);
  assert.equal(listed?.properties.deletedOn instanceof Date, true);
  assert.deepEqual(listed?.metadata, { colour: "blue" });
  await blob.undelete();
  assert.equal((await blob.downloadToBuffer()).toString(), "text");
  assert.equal((await blob.getProperties()).etag, etag);
  assert.deepEqual((await list({ includeDeleted: true })).map(formatted), ["blob"]);
});

test("the response to a deletion tells whether it is permanent", async () => {
  const isGone = async (path: string, headers: Record<string, string> = {}) => {
    const answer = await rawRequest(server, { method: "DELETE", path: `/box/${path}`, headers });
    return [answer.status, answer.headers.get("x-ms-delete-type-permanent")];
  };
  const blob = await newBlob("blob", "text");
  const { snapshot = "" } = await blob.createSnapshot();
  assert.deepEqual(await isGone(`blob?snapshot=${snapshot}`), [202, "false"]);
  assert.deepEqual(await isGone("blob"), [202, "false"]);
  await client.setProperties({ deleteRetentionPolicy: { enabled: false } });
  await newBlob("blob", "text");
  await blob.createSnapshot();
  const include = { "x-ms-delete-snapshots": "include" };
  assert.deepEqual(await isGone("blob", include), [202, "true"]);
});

test("an overwritten blob becomes a deleted snapshot, and is restored as a snapshot", async () => {
  const blob = await newBlob("blob", "one", "two");
  await blob.commitBlockList([]);
  assert.deepEqual((await list(EVERYTHING)).map(formatted), ["-blob@", "-blob@", "blob"]);
  assert.deepEqual((await list({ includeDeleted: true })).map(formatted), ["blob"]);
  const [first] = await list(EVERYTHING);
  const old = blob.withSnapshot(first?.snapshot ?? "");
  await refused(old.getProperties(), 404, "BlobNotFound");
  // Deleted snapshots do not prevent the deletion of a blob.
  await blob.delete();
  await blob.undelete();
  assert.deepEqual((await list(EVERYTHING)).map(formatted), ["blob@", "blob@", "blob"]);
  assert.equal((await old.downloadToBuffer()).toString(), "one");
  assert.equal((await blob.downloadToBuffer()).length, 0);
});

test("metadata, properties, pages and appended blocks leave nothing deleted behind", async () => {
  const pages = container.getPageBlobClient("pages");
  await pages.create(1_024);
  await pages.uploadPages("a".repeat(512), 0, 512);
  await pages.setMetadata({ colour: "blue" });
  await pages.setHTTPHeaders({ blobContentType: "text/plain" });
  const log = container.getAppendBlobClient("log");
  await log.create();
  await log.appendBlock("text", 4);
  assert.deepEqual((await list(EVERYTHING)).map(formatted), ["log", "pages"]);
});

test("deleted snapshots are retained like blobs, whether deleted alone or with their blob", async () => {
  const blob = await newBlob("blob", "text");
  const { snapshot: first = "" } = await blob.createSnapshot();
  const { snapshot: second = "" } = await blob.createSnapshot();
  await blob.withSnapshot(first).delete();
  assert.deepEqual((await list(EVERYTHING)).map(formatted), ["-blob@", "blob@", "blob"]);
  await blob.undelete();
  assert.deepEqual((await list(EVERYTHING)).map(formatted), ["blob@", "blob@", "blob"]);
  await blob.delete({ deleteSnapshots: "include" });
  assert.deepEqual((await list(EVERYTHING)).map(formatted), ["-blob@", "-blob@", "-blob"]);
  await blob.undelete();
  for (const snapshot of [first, second]) {
    assert.equal((await blob.withSnapshot(snapshot).downloadToBuffer()).toString(), "text");
  }
});

test("a blob that replaces a deleted one makes a snapshot of it", async () => {
  const blob = await newBlob("blob", "one");
  await blob.delete();
  await newBlob("blob", "two");
  assert.deepEqual((await list(EVERYTHING)).map(formatted), ["-blob@", "blob"]);
  await blob.delete();
  assert.deepEqual((await list(EVERYTHING)).map(formatted), ["-blob@", "-blob"]);
  await blob.undelete();
  const [snapshot] = await list(EVERYTHING);
  const old = blob.withSnapshot(snapshot?.snapshot ?? "");
  assert.equal((await old.downloadToBuffer()).toString(), "one");
  assert.equal((await blob.downloadToBuffer()).toString(), "two");
});

test("a restore larger than one transaction is complete", async () => {
  const blob = await newBlob("blob", ...Array.from({ length: 300 }, (_, at) => `text${at}`));
  await blob.delete();
  await blob.undelete();
  const items = await list({ includeSnapshots: true }, 100);
  assert.equal(items.length, 300);
  assert.ok(items.every(({ deleted }) => !deleted));
});

test("a blob that never existed, or exists, cannot be restored", async () => {
  await refused(container.getBlobClient("missing").undelete(), 404, "BlobNotFound");
  const nowhere = client.getContainerClient("nowhere").getBlobClient("blob");
  await refused(nowhere.undelete(), 404, "ContainerNotFound");
  const blob = await newBlob("blob", "text");
  await blob.undelete();
  assert.equal((await blob.downloadToBuffer()).toString(), "text");
});

test("a deleted blob is retained as long as configured at its deletion", async () => {
  const blob = await newBlob("blob", "x".repeat(100_000));
  await blob.delete();
  await client.setProperties({ deleteRetentionPolicy: { enabled: true, days: 1 } });
  const other = await newBlob("other", "text");
  await other.delete();
  server.clock.advance(DAY_MS);
  assert.deepEqual((await list({ includeDeleted: true })).map(formatted), ["-blob"]);
  await refused(other.undelete(), 404, "BlobNotFound");
  await client.setProperties({ deleteRetentionPolicy: { enabled: false } });
  server.clock.advance(6 * DAY_MS - 1);
  await sweep(server);
  await blob.undelete();
  await blob.delete();
  // Nothing is retained any more.
  await refused(blob.undelete(), 404, "BlobNotFound");
  assert.deepEqual(await list({ includeDeleted: true }), []);
});

test("deleted blobs are listed by hierarchy and beside uncommitted ones", async () => {
  for (const name of ["a", "b/c", "b/d"]) await (await newBlob(name, "text")).delete();
  await container.getBlockBlobClient("b").stageBlock("YQ==", "x", 1);
  const found: string[] = [];
  for await (const item of container.listBlobsByHierarchy("/", { includeDeleted: true })) {
    found.push(`${item.kind} ${item.name}`);
  }
  assert.deepEqual(found.sort(), ["blob a", "prefix b/"]);
  for (const pageSize of [1, 2, 5_000]) {
    const all = await list({ includeDeleted: true, includeUncommitedBlobs: true }, pageSize);
    assert.deepEqual(all.map(formatted), ["-a", "b", "-b/c", "-b/d"]);
  }
});

test("with versioning, only versions deleted by their id are retained as deleted", async () => {
  await start(VERSIONING);
  const blob = container.getBlockBlobClient("blob");
  const { versionId: first = "" } = await blob.upload("one", 3);
  await blob.upload("two", 3);
  await blob.delete();
  assert.deepEqual((await list(EVERYTHING)).map(formatted), ["blob#", "blob#"]);
  await blob.withVersion(first).delete();
  assert.deepEqual((await list(EVERYTHING)).map(formatted), ["-blob#", "blob#"]);
  assert.deepEqual((await list({ includeVersions: true })).map(formatted), ["blob#"]);
  const onlyVersions = async () =>
    (await list({ includeDeletedWithVersions: true })).map((item) => [
      formatted(item),
      item.hasVersionsOnly,
    ]);
  assert.deepEqual(await onlyVersions(), [["blob", true]]);
  const [, second] = await list(EVERYTHING);
  await blob.withVersion(second?.versionId ?? "").delete();
  assert.deepEqual(await onlyVersions(), [["-blob#", true]]);
  await refused(blob.withVersion(first).getProperties(), 404, "BlobNotFound");
  await blob.undelete();
  assert.deepEqual((await list(EVERYTHING)).map(formatted), ["blob#", "blob#"]);
  // The client decides which version becomes current.
  await refused(blob.getProperties(), 404, "BlobNotFound");
  assert.equal((await blob.withVersion(first).downloadToBuffer()).toString(), "one");
});

test("with versioning, undeleting a blob that has its versions changes nothing", async () => {
  await start(VERSIONING);
  const blob = await newBlob("blob", "one");
  const gone = await blob.delete();
  assert.equal(gone._response.headers.get("x-ms-delete-type-permanent"), "false");
  const before = await list(EVERYTHING);
  await blob.undelete();
  assert.deepEqual(await list(EVERYTHING), before);
  await refused(blob.getProperties(), 404, "BlobNotFound");
});

test("with versioning, snapshots are restored without their blob, and restore it by a copy", async () => {
  await start(VERSIONING);
  const blob = await newBlob("blob", "one");
  const { snapshot = "" } = await blob.createSnapshot();
  await blob.delete({ deleteSnapshots: "include" });
  for (const { versionId = "" } of await list({ includeVersions: true })) {
    await blob.withVersion(versionId).delete();
  }
  assert.deepEqual((await list(EVERYTHING)).map(formatted), ["-blob#", "-blob@", "-blob#"]);
  assert.deepEqual(await list({ includeSnapshots: true }), []);
  await blob.undelete();
  assert.deepEqual((await list(EVERYTHING)).map(formatted), ["blob#", "blob@", "blob#"]);
  const [only] = await list({ includeDeletedWithVersions: true });
  assert.deepEqual([only?.name, only?.hasVersionsOnly], ["blob", true]);
  await refused(blob.delete(), 404, "BlobNotFound");
  await (await blob.beginCopyFromURL(blob.withSnapshot(snapshot).url)).pollUntilDone();
  assert.equal((await blob.downloadToBuffer()).toString(), "one");
  await refused(blob.delete(), 409, "SnapshotsPresent");
});

async function permanently(query: string, sas = ""): Promise<[number, string]> {
  const path = `/box/blob?deletetype=permanent${query}${sas && `&${sas}`}`;
  const answer = await rawRequest(server, { method: "DELETE", path, signed: sas === "" });
  return [answer.status, answer.code];
}

async function allowPermanentDelete(): Promise<void> {
  const body =
    "<StorageServiceProperties><DeleteRetentionPolicy><Enabled>true</Enabled><Days>7</Days>" +
    "<AllowPermanentDelete>true</AllowPermanentDelete></DeleteRetentionPolicy>" +
    "</StorageServiceProperties>";
  const path = "/?restype=service&comp=properties";
  assert.equal((await rawRequest(server, { method: "PUT", path, body })).status, 202);
}

test("a deleted snapshot is deleted permanently if the account allows it", async () => {
  const blob = await newBlob("blob", "text");
  const { snapshot = "" } = await blob.createSnapshot();
  await blob.withSnapshot(snapshot).delete();
  const refusal = [409, "PermanentDeleteNotAllowed"];
  assert.deepEqual(await permanently(`&snapshot=${snapshot}`), refusal);
  await allowPermanentDelete();
  assert.deepEqual(await permanently(""), refusal);
  assert.deepEqual(await permanently(`&snapshot=${NEVER}`), [404, "BlobNotFound"]);
  assert.deepEqual(await permanently(`&versionid=${snapshot}`), [404, "BlobNotFound"]);
  const { snapshot: live = "" } = await blob.createSnapshot();
  assert.deepEqual(await permanently(`&snapshot=${live}`), [409, "BlobSnapshotNotSoftDeleted"]);
  assert.deepEqual(await permanently(`&snapshot=${snapshot}`), [202, ""]);
  assert.deepEqual((await list(EVERYTHING)).map(formatted), ["blob@", "blob"]);
  const path = `/box/blob?deletetype=soft&snapshot=${live}`;
  const answer = await rawRequest(server, { method: "DELETE", path });
  assert.deepEqual([answer.status, answer.code], [400, "InvalidQueryParameterValue"]);
});

test("a version is deleted permanently once it is neither current nor retained", async () => {
  await start(VERSIONING);
  await allowPermanentDelete();
  const blob = container.getBlockBlobClient("blob");
  const { versionId = "" } = await blob.upload("one", 3);
  const query = `&versionid=${versionId}`;
  assert.deepEqual(await permanently(query), [403, "OperationNotAllowedOnRootBlob"]);
  await blob.delete();
  assert.deepEqual(await permanently(query), [409, "BlobSnapshotNotSoftDeleted"]);
  await blob.withVersion(versionId).delete();
  assert.deepEqual(await permanently(query), [202, ""]);
  assert.deepEqual(await list(EVERYTHING), []);
});

test("a permanent deletion requires the letter y", async () => {
  await allowPermanentDelete();
  const blob = await newBlob("blob", "text");
  const { snapshot = "" } = await blob.createSnapshot();
  await blob.withSnapshot(snapshot).delete();
  const sas = (letters: string) =>
    generateBlobSASQueryParameters(
      {
        containerName: "box",
        blobName: "blob",
        permissions: BlobSASPermissions.parse(letters),
        expiresOn: new Date(Date.now() + 3_600_000),
      },
      CREDENTIAL,
    ).toString();
  const query = `&snapshot=${snapshot}`;
  assert.equal((await permanently(query, sas("racwdxtmei")))[0], 403);
  assert.equal((await permanently(query, sas("y")))[0], 202);
});
