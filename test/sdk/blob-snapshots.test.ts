import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { BlobItem, ContainerClient, ContainerListBlobsOptions } from "@azure/storage-blob";
import { rawRequest } from "./raw-request.ts";
import { refused } from "./refused.ts";
import { startServer, type TestServer } from "./server.ts";

const LEASE = "00000000-0000-0000-0000-00000000000a";
const OTHER_LEASE = "00000000-0000-0000-0000-00000000000b";
const NEVER = "2020-01-01T00:00:00.0000000Z";

let server: TestServer;
let container: ContainerClient;
let blobs = 0;

before(async () => {
  server = await startServer();
  container = server.client().getContainerClient("snapshots");
  await container.create();
});

after(async () => {
  assert.deepEqual(server.failures, []);
  await server.close();
});

async function newBlob(text = "text") {
  const blob = container.getBlockBlobClient(`blob${blobs++}`);
  await blob.upload(text, text.length);
  return blob;
}

async function list(options: ContainerListBlobsOptions, maxPageSize = 5_000): Promise<BlobItem[]> {
  const items: BlobItem[] = [];
  for await (const page of container.listBlobsFlat(options).byPage({ maxPageSize })) {
    items.push(...page.segment.blobItems);
  }
  return items;
}

test("a snapshot is read like a blob and never changes", async () => {
  const blob = await newBlob("before");
  await blob.setMetadata({ colour: "blue" });
  const { snapshot = "", etag, lastModified, versionId } = await blob.createSnapshot();
  assert.match(snapshot, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z$/);
  assert.equal(versionId, undefined);
  const properties = await blob.getProperties();
  assert.deepEqual([etag, lastModified], [properties.etag, properties.lastModified]);
  await blob.upload("afterwards", 10);
  const old = blob.withSnapshot(snapshot);
  assert.equal((await old.downloadToBuffer()).toString(), "before");
  const found = await old.getProperties();
  assert.equal(found.etag, etag);
  assert.deepEqual(found.metadata, { colour: "blue" });
  assert.equal(found.contentLength, 6);
  assert.equal(found.leaseState, undefined);
  assert.equal((await old.download(2, 3)).contentRange, "bytes 2-4/6");
  const { headers } = await rawRequest(server, {
    path: `/snapshots/${blob.name}?comp=metadata&snapshot=${snapshot}`,
  });
  assert.equal(headers.get("x-ms-meta-colour"), "blue");
});

test("a snapshot may have its own metadata, and the blob keeps its own", async () => {
  const blob = await newBlob();
  await blob.setMetadata({ colour: "blue" });
  const { etag } = await blob.getProperties();
  server.clock.advance(5_000);
  const { snapshot = "", ...made } = await blob.createSnapshot({ metadata: { colour: "red" } });
  assert.notEqual(made.etag, etag);
  const found = await blob.withSnapshot(snapshot).getProperties();
  assert.deepEqual([found.metadata, found.etag], [{ colour: "red" }, made.etag]);
  const base = await blob.getProperties();
  assert.deepEqual([base.metadata, base.etag], [{ colour: "blue" }, etag]);
});

test("a snapshot lists its committed blocks, and no uncommitted ones", async () => {
  const blob = container.getBlockBlobClient(`blob${blobs++}`);
  await blob.stageBlock("YQ==", "one", 3);
  await blob.commitBlockList(["YQ=="]);
  const { snapshot = "" } = await blob.createSnapshot();
  await blob.stageBlock("Yg==", "two", 3);
  const old = container.getBlockBlobClient(blob.name).withSnapshot(snapshot);
  const lists = await old.getBlockList("all");
  assert.deepEqual(lists.committedBlocks, [{ name: "YQ==", size: 3 }]);
  assert.deepEqual(lists.uncommittedBlocks ?? [], []);
});

test("pages and blocks written later do not appear in a snapshot", async () => {
  const pages = container.getPageBlobClient(`blob${blobs++}`);
  await pages.create(4 * 512);
  await pages.uploadPages("a".repeat(512), 0, 512);
  const { snapshot: paged = "" } = await pages.createSnapshot();
  await pages.uploadPages("b".repeat(1_024), 0, 1_024);
  await pages.resize(8 * 512);
  const old = pages.withSnapshot(paged);
  const text = (await old.downloadToBuffer()).toString();
  assert.equal(text, "a".repeat(512) + "\0".repeat(3 * 512));
  // The client's count is the last byte minus the first.
  const ranges = await old.getPageRanges();
  assert.deepEqual(ranges.pageRange, [{ offset: 0, count: 511 }]);

  const log = container.getAppendBlobClient(`blob${blobs++}`);
  await log.create();
  await log.appendBlock("one", 3);
  const { snapshot: logged = "" } = await log.createSnapshot();
  await log.appendBlock("two", 3);
  const before = log.withSnapshot(logged);
  assert.equal((await before.downloadToBuffer()).toString(), "one");
  assert.equal((await before.getProperties()).blobCommittedBlockCount, 1);
  assert.equal((await log.downloadToBuffer()).toString(), "onetwo");
});

test("the pages changed since a snapshot are listed exactly", async () => {
  const pages = container.getPageBlobClient(`blob${blobs++}`);
  const page = (letter: string, count = 1) => letter.repeat(count * 512);
  await pages.create(100 * 512);
  await pages.uploadPages(page("a", 4), 0, 4 * 512);
  const { snapshot: first = "" } = await pages.createSnapshot();
  await pages.uploadPages(page("b"), 512, 512);
  await pages.clearPages(3 * 512, 512);
  const { snapshot: second = "" } = await pages.createSnapshot();
  await pages.uploadPages(page("c"), 50 * 512, 512);
  const changed = {
    pageRange: [{ offset: 512, count: 511 }],
    clearRange: [{ offset: 3 * 512, count: 511 }],
  };
  const since = await pages.withSnapshot(second).getPageRangesDiff(0, 100 * 512, first);
  assert.deepEqual([since.pageRange, since.clearRange], [changed.pageRange, changed.clearRange]);
  const now = await pages.getPageRangesDiff(0, 100 * 512, first);
  assert.deepEqual(now.pageRange, [...changed.pageRange, { offset: 50 * 512, count: 511 }]);
  assert.deepEqual(now.clearRange, changed.clearRange);
  const nothing = await pages.withSnapshot(second).getPageRangesDiff(0, 100 * 512, second);
  assert.deepEqual([nothing.pageRange ?? [], nothing.clearRange ?? []], [[], []]);
  const changes: [number, boolean][] = [];
  const all = pages.listPageRangesDiff(0, 100 * 512, first).byPage({ maxPageSize: 1 });
  for await (const { pageRange = [], clearRange = [] } of all) {
    assert.ok(pageRange.length + clearRange.length <= 1);
    for (const { start } of pageRange) changes.push([start / 512, false]);
    for (const { start } of clearRange) changes.push([start / 512, true]);
  }
  assert.deepEqual(changes, [
    [1, false],
    [3, true],
    [50, false],
  ]);
});

test("an invalid comparison is refused", async () => {
  const pages = container.getPageBlobClient(`blob${blobs++}`);
  await pages.create(512);
  const { snapshot: first = "" } = await pages.createSnapshot();
  const { snapshot: second = "" } = await pages.createSnapshot();
  const diff = (blob: typeof pages, since: string) => blob.getPageRangesDiff(0, 512, since);
  await refused(diff(pages, NEVER), 409, "PreviousSnapshotNotFound");
  await refused(diff(pages.withSnapshot(first), second), 400, "PreviousSnapshotCannotBeNewer");
  await refused(diff(pages, "yesterday"), 400, "InvalidQueryParameterValue");
  await pages.create(512);
  await refused(diff(pages, first), 409, "BlobOverwritten");
  await container.getBlockBlobClient(pages.name).upload("text", 4);
  const { snapshot: text = "" } = await pages.createSnapshot();
  await container.getPageBlobClient(pages.name).create(512);
  await refused(diff(pages, text), 409, "PreviousSnapshotOperationNotSupported");
  const path = `/snapshots/${pages.name}?comp=pagelist`;
  const headers = { "x-ms-previous-snapshot-url": `${server.url}${path}&snapshot=${first}` };
  const answer = await rawRequest(server, { path, headers });
  assert.deepEqual([answer.status, answer.code], [400, "UnsupportedHeader"]);
});

test("taking a snapshot heeds the conditions of a write", async () => {
  const blob = await newBlob();
  const { etag = "" } = await blob.getProperties();
  await refused(blob.createSnapshot({ conditions: { ifNoneMatch: etag } }), 412, "ConditionNotMet");
  await refused(blob.createSnapshot({ conditions: { ifMatch: '"0x1"' } }), 412, "ConditionNotMet");
  await blob.createSnapshot({ conditions: { ifMatch: etag } });
  const missing = container.getBlobClient("missing");
  await refused(missing.createSnapshot(), 404, "BlobNotFound");
});

test("a snapshot requires no lease id, checks one that is sent, and has no lease", async () => {
  const blob = await newBlob();
  await blob.getBlobLeaseClient(LEASE).acquireLease(-1);
  const { snapshot = "" } = await blob.createSnapshot();
  await blob.createSnapshot({ conditions: { leaseId: LEASE } });
  const wrong = { conditions: { leaseId: OTHER_LEASE } };
  await refused(blob.createSnapshot(wrong), 412, "LeaseIdMismatchWithBlobOperation");
  const old = blob.withSnapshot(snapshot);
  const right = { conditions: { leaseId: LEASE } };
  await refused(old.getProperties(right), 412, "LeaseNotPresentWithBlobOperation");
  const lease = old.getBlobLeaseClient(LEASE).acquireLease(-1);
  await refused(lease, 400, "InvalidQueryParameterValue");
  // Without the lease id, a snapshot can be deleted, but not the blob with all its snapshots.
  await refused(blob.delete({ deleteSnapshots: "include" }), 412, "LeaseIdMissing");
  await old.delete();
  await blob.delete({ deleteSnapshots: "include", ...right });
});

test("nothing can be written to a snapshot", async () => {
  const blob = await newBlob();
  const { snapshot = "" } = await blob.createSnapshot();
  for (const [query, headers] of [
    ["", { "x-ms-blob-type": "BlockBlob" }],
    ["comp=metadata&", {}],
    ["comp=properties&", {}],
    ["comp=snapshot&", {}],
    ["comp=undelete&", {}],
    ["comp=block&blockid=AAAA&", {}],
    ["comp=blocklist&", {}],
    ["comp=page&", { "x-ms-page-write": "clear", "x-ms-range": "bytes=0-511" }],
    ["comp=appendblock&", {}],
    ["comp=seal&", {}],
    ["comp=lease&", { "x-ms-lease-action": "break" }],
  ] as const) {
    for (const name of ["snapshot", "versionid"]) {
      const answer = await rawRequest(server, {
        method: "PUT",
        path: `/snapshots/${blob.name}?${query}${name}=${snapshot}`,
        headers,
        ...(query !== "comp=page&" && { body: "<BlockList></BlockList>" }),
      });
      assert.deepEqual([answer.status, answer.code], [400, "InvalidQueryParameterValue"], query);
    }
  }
});

test("a snapshot id that is invalid, given twice or unknown is refused", async () => {
  const blob = await newBlob();
  const { snapshot = "" } = await blob.createSnapshot();
  const ask = async (method: string, query: string) => {
    const answer = await rawRequest(server, { method, path: `/snapshots/${blob.name}?${query}` });
    return [answer.status, answer.code];
  };
  for (const method of ["GET", "DELETE"]) {
    const invalid = [400, "InvalidQueryParameterValue"];
    assert.deepEqual(await ask(method, "snapshot=now"), invalid);
    assert.deepEqual(await ask(method, "versionid="), invalid);
    const both = `snapshot=${snapshot}&versionid=${snapshot}`;
    for (const comp of ["", "comp=metadata&", "comp=tags&"]) {
      if (method === "DELETE" && comp !== "") continue;
      const exclusive = [400, "MutuallyExclusiveQueryParameters"];
      assert.deepEqual(await ask(method, comp + both), exclusive, comp);
    }
    assert.deepEqual(await ask(method, `snapshot=${NEVER}`), [404, "BlobNotFound"]);
    assert.deepEqual(await ask(method, `versionid=${NEVER}`), [404, "BlobNotFound"]);
    // A snapshot id is not a version id.
    assert.deepEqual(await ask(method, `versionid=${snapshot}`), [404, "BlobNotFound"]);
  }
});

test("a blob is deleted with its snapshots, the snapshots without it, or one snapshot alone", async () => {
  const blob = await newBlob();
  const { snapshot: first = "" } = await blob.createSnapshot();
  const { snapshot: second = "" } = await blob.createSnapshot();
  await refused(blob.delete(), 409, "SnapshotsPresent");
  const alone = blob.withSnapshot(first).delete({ deleteSnapshots: "include" });
  await refused(alone, 400, "InvalidQueryParameterValue");
  await blob.withSnapshot(first).delete();
  await refused(blob.withSnapshot(first).getProperties(), 404, "BlobNotFound");
  await refused(blob.withSnapshot(first).delete(), 404, "BlobNotFound");
  await blob.delete({ deleteSnapshots: "only" });
  await refused(blob.withSnapshot(second).getProperties(), 404, "BlobNotFound");
  assert.equal((await blob.downloadToBuffer()).toString(), "text");
  const { snapshot: third = "" } = await blob.createSnapshot();
  await blob.delete({ deleteSnapshots: "include" });
  await refused(blob.getProperties(), 404, "BlobNotFound");
  await refused(blob.withSnapshot(third).getProperties(), 404, "BlobNotFound");
});

test("deleting a snapshot heeds conditions on the snapshot itself", async () => {
  const blob = await newBlob();
  const { snapshot = "", etag = "" } = await blob.createSnapshot();
  await blob.upload("other", 5);
  const old = blob.withSnapshot(snapshot);
  await refused(old.delete({ conditions: { ifNoneMatch: etag } }), 412, "ConditionNotMet");
  await old.delete({ conditions: { ifMatch: etag } });
});

test("replacing a blob preserves its snapshots", async () => {
  const blob = await newBlob("one");
  const { snapshot = "" } = await blob.createSnapshot();
  await container.getPageBlobClient(blob.name).create(512);
  assert.equal((await blob.withSnapshot(snapshot).downloadToBuffer()).toString(), "one");
  await refused(blob.delete(), 409, "SnapshotsPresent");
});

test("snapshots are listed oldest first, before the blob, at any page size", async () => {
  const prefix = `list${blobs++}-`;
  const expected: [string, string | undefined][] = [];
  for (const name of ["a", "a/b", "b"]) {
    const blob = container.getBlockBlobClient(prefix + name);
    await blob.upload("x", 1);
    for (let at = 0; at < 3; at++) {
      const { snapshot } = await blob.createSnapshot({ metadata: { at: String(at) } });
      expected.push([blob.name, snapshot]);
    }
    expected.push([blob.name, undefined]);
  }
  for (const pageSize of [1, 2, 3, 5_000]) {
    const found = await list({ prefix, includeSnapshots: true, includeMetadata: true }, pageSize);
    assert.deepEqual(
      found.map(({ name, snapshot }) => [name, snapshot || undefined]),
      expected,
    );
    assert.deepEqual(found[1]?.metadata, { at: "1" });
    assert.equal(found[1]?.properties.leaseState, undefined);
    assert.equal(found[3]?.properties.leaseState, "available");
  }
  const plain = await list({ prefix });
  assert.deepEqual(
    plain.map(({ name }) => name),
    ["a", "a/b", "b"].map((name) => prefix + name),
  );
  await container.getBlockBlobClient(`${prefix}c`).stageBlock("YQ==", "x", 1);
  await container.getBlockBlobClient(`${prefix}a`).stageBlock("YQ==", "x", 1);
  const all = await list({ prefix, includeSnapshots: true, includeUncommitedBlobs: true }, 2);
  assert.deepEqual(
    all.map(({ name, snapshot }) => [name, snapshot || undefined]),
    [...expected, [`${prefix}c`, undefined]],
  );
});

test("a container is deleted with its snapshots, and a new one starts empty", async () => {
  const other = server.client().getContainerClient("with-snapshots");
  await other.create();
  const blob = other.getBlockBlobClient("blob");
  await blob.upload("text", 4);
  const { snapshot = "" } = await blob.createSnapshot();
  await other.delete();
  await other.create();
  await refused(blob.withSnapshot(snapshot).getProperties(), 404, "BlobNotFound");
});
