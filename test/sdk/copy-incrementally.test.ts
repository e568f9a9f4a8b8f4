import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import type { BlobClient, ContainerClient, PageBlobClient } from "@azure/storage-blob";
import { rawRequest } from "./raw-request.ts";
import { refused } from "./refused.ts";
import { forThisFile, startServer } from "./server.ts";

const server = await forThisFile(startServer());
let box: ContainerClient;
let disk: PageBlobClient;
let copy: PageBlobClient;

beforeEach(async () => {
  box = await server.makeContainer();
  disk = box.getPageBlobClient("disk");
  copy = box.getPageBlobClient("copy");
  await disk.create(2_048);
});

function startCopy(to: PageBlobClient, from: BlobClient, snapshot: string, more = {}) {
  return to.startCopyIncremental(from.withSnapshot(snapshot).url, more);
}

async function snapshotWith(byte: number, at: number): Promise<string> {
  await disk.uploadPages(Buffer.alloc(512, byte), at, 512);
  return (await disk.createSnapshot()).snapshot ?? "";
}

test("a copy follows its source from snapshot to snapshot, and has a snapshot of each", async () => {
  const snapshots: PageBlobClient[] = [];
  for (const [byte, at] of [
    [1, 0],
    [2, 512],
  ] as const) {
    const done = await startCopy(copy, disk, await snapshotWith(byte, at));
    assert.equal(done.copyStatus, "pending");
    const found = await copy.getProperties();
    assert.deepEqual([found.isIncrementalCopy, found.copyStatus], [true, "success"]);
    snapshots.push(copy.withSnapshot(found.destinationSnapshot ?? ""));
  }
  const [first, second] = snapshots as [PageBlobClient, PageBlobClient];
  const bytes = (fill: number[]) => Buffer.concat(fill.map((byte) => Buffer.alloc(512, byte)));
  assert.deepEqual(await first.downloadToBuffer(), bytes([1, 0, 0, 0]));
  assert.deepEqual(await second.downloadToBuffer(), bytes([1, 2, 0, 0]));
  const listed = [];
  for await (const one of box.listBlobsFlat({ includeCopy: true, includeSnapshots: true })) {
    if (one.name === "copy") listed.push(one.properties);
  }
  assert.deepEqual(
    listed.map(({ incrementalCopy }) => incrementalCopy),
    [true, true, true],
  );
  const { destinationSnapshot } = await copy.getProperties();
  assert.equal(listed.at(-1)?.destinationSnapshot, destinationSnapshot);
});

test("the copy itself can be neither read nor written, but deleted", async () => {
  await startCopy(copy, disk, await snapshotWith(1, 0));
  const code = "OperationNotAllowedOnIncrementalCopyBlob";
  for (const use of [
    () => copy.download(),
    () => copy.uploadPages(Buffer.alloc(512), 0, 512),
    () => copy.setMetadata({}),
    () => copy.createSnapshot(),
    () => copy.create(512),
    () => copy.beginCopyFromURL(disk.url),
    () => copy.getPageRanges(),
    () => copy.getBlobLeaseClient().acquireLease(-1),
    () => copy.resize(512),
  ]) {
    await refused(use(), 409, code);
  }
  const read = disk.beginCopyFromURL(copy.url);
  await refused(read, 409, "CannotVerifyCopySource");
  await copy.delete({ deleteSnapshots: "include" });
});

test("tags of the copy stay from snapshot to snapshot, and can be conditions", async () => {
  await startCopy(copy, disk, await snapshotWith(1, 0));
  await copy.setTags({ state: "done" });
  const next = await snapshotWith(2, 0);
  const when = (tagConditions: string) => ({ conditions: { tagConditions } });
  const unmet = startCopy(copy, disk, next, when("state = 'open'"));
  await refused(unmet, 412, "ConditionNotMet");
  await startCopy(copy, disk, next, when("state = 'done'"));
  assert.deepEqual((await copy.getTags()).tags, { state: "done" });
});

test("a snapshot of the copy is read like any other, and compared with the previous one", async () => {
  const made: string[] = [];
  for (const at of [0, 512]) {
    await startCopy(copy, disk, await snapshotWith(1, at));
    made.push((await copy.getProperties()).destinationSnapshot ?? "");
  }
  const [first = "", second = ""] = made;
  const all = await copy.withSnapshot(second).getPageRanges();
  assert.deepEqual(all.pageRange, [{ offset: 0, count: 1_023 }]);
  const diff = await copy.withSnapshot(second).getPageRangesDiff(0, 2_048, first);
  assert.deepEqual(diff.pageRange, [{ offset: 512, count: 511 }]);
});

test("a source that was created anew is not followed", async () => {
  await startCopy(copy, disk, await snapshotWith(1, 0));
  await disk.create(2_048);
  await refused(startCopy(copy, disk, await snapshotWith(2, 0)), 409, "BlobOverwritten");
});

test("a source is recognized in every form of its URL", async () => {
  const { port } = new URL(server.url);
  const path = `${box.containerName}/disk`;
  for (const [at, url] of [
    `${server.url}/${path}?snapshot=`,
    `${server.url}/${path}?Snapshot=`,
    `${server.url}/${box.containerName}/%64isk?SNAPSHOT=`,
    `http://localhost:${port}/${server.account}/${path}?snapshot=`,
    `http://${server.account}.blob.localhost:${port}/${path}?snapshot=`,
  ].entries()) {
    const snapshot = await snapshotWith(at + 1, 0);
    const { status, code } = await rawRequest(server, {
      method: "PUT",
      path: `/${box.containerName}/copy?comp=incrementalcopy`,
      headers: { "x-ms-copy-source": url + snapshot },
    });
    assert.deepEqual([status, code], [202, ""], url);
  }
});

test("a source that is not a blob of this server is not followed", async () => {
  const snapshot = await snapshotWith(1, 0);
  const query = `?snapshot=${snapshot}`;
  for (const url of [
    `https://elsewhere.example/box/disk${query}`,
    `http://127.0.0.1:1/${server.account}/${box.containerName}/disk${query}`,
  ]) {
    await refused(copy.startCopyIncremental(url), 409, "InvalidSourceBlobUrl");
  }
});

test("a lease id that is sent is checked", async () => {
  const { url } = disk.withSnapshot(await snapshotWith(1, 0));
  const { status, code } = await rawRequest(server, {
    method: "PUT",
    path: `/${box.containerName}/copy?comp=incrementalcopy`,
    headers: { "x-ms-copy-source": url, "x-ms-lease-id": "00000000-0000-0000-0000-00000000000a" },
  });
  assert.deepEqual([status, code], [412, "LeaseNotPresentWithBlobOperation"]);
});

test("only snapshots of one page blob are accepted, in order of time", async () => {
  const first = await snapshotWith(1, 0);
  const second = await snapshotWith(2, 0);
  await startCopy(copy, disk, second);
  await refused(
    startCopy(copy, disk, first),
    409,
    "IncrementalCopyOfEarlierVersionSnapshotNotAllowed",
  );
  const other = box.getPageBlobClient("other");
  await other.create(512);
  const { snapshot = "" } = await other.createSnapshot();
  await refused(startCopy(copy, other, snapshot), 409, "IncrementalCopyBlobMismatch");
  await refused(startCopy(other, disk, second), 409, "IncrementalCopyBlobMismatch");
  const fresh = box.getPageBlobClient("fresh");
  await refused(startCopy(fresh, disk, ""), 409, "IncrementalCopySourceMustBeSnapshot");
  const text = box.getBlockBlobClient("text");
  await text.upload("x", 1);
  const block = await text.createSnapshot();
  await refused(startCopy(fresh, text, block.snapshot ?? ""), 409, "InvalidSourceBlobType");
  await refused(
    startCopy(fresh, disk, "2020-01-01T00:00:00.0000000Z"),
    404,
    "CannotVerifyCopySource",
  );
  const conditions = { ifMatch: '"0x8D000000000000"' };
  await refused(startCopy(copy, disk, second, { conditions }), 412, "TargetConditionNotMet");
});
