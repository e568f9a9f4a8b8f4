import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { ShareClient } from "@azure/storage-file-share";
import { type FileServer, startFileServer, sweepFiles } from "./file-server.ts";
import { rawRequest } from "./raw-request.ts";
import { refused } from "./refused.ts";

let server: FileServer;

before(async () => {
  server = await startFileServer();
});

after(async () => {
  await server.close();
  assert.deepEqual(server.failures, []);
});

async function snapshotOf(share: ShareClient): Promise<ShareClient> {
  const { snapshot = "" } = await share.createSnapshot();
  return share.withSnapshot(snapshot);
}

async function names(share: ShareClient, path = ""): Promise<string[]> {
  const found = [];
  const directory = share.getDirectoryClient(path);
  for await (const { name } of directory.listFilesAndDirectories()) found.push(name);
  return found.sort();
}

async function read(share: ShareClient, path: string): Promise<string> {
  const file = share.rootDirectoryClient.getFileClient(path);
  return (await file.downloadToBuffer()).toString();
}

async function write(share: ShareClient, path: string, text: string): Promise<void> {
  const file = share.rootDirectoryClient.getFileClient(path);
  await file.create(text.length);
  if (text !== "") await file.uploadRange(text, 0, text.length);
}

test("a lease is on the current file: snapshots show none", async () => {
  const share = await server.newShare();
  for (const name of ["before", "after"]) await write(share, name, "text");
  const root = share.rootDirectoryClient;
  await root.getFileClient("before").getShareLeaseClient().acquireLease();
  const snapshot = await snapshotOf(share);
  await root.getFileClient("after").getShareLeaseClient().acquireLease();
  for (const name of ["before", "after"]) {
    assert.equal((await root.getFileClient(name).getProperties()).leaseState, "leased");
    const unchanged = await snapshot.rootDirectoryClient.getFileClient(name).getProperties();
    assert.deepEqual([unchanged.leaseState, unchanged.leaseStatus], ["available", "unlocked"]);
    assert.equal(
      (await snapshot.rootDirectoryClient.getFileClient(name).download()).leaseState,
      "available",
    );
  }
});

test("a share with leased snapshots is deleted only on explicit request", async () => {
  const share = await server.newShare();
  const snapshot = await snapshotOf(share);
  await snapshot.getShareLeaseClient().acquireLease(-1);
  await refused(share.delete(), 409, "ShareHasSnapshots");
  const leased = share.delete({ deleteSnapshots: "include" });
  await refused(leased, 409, "DeleteShareWhenSnapshotLeased");
  await refused(snapshot.delete(), 412, "LeaseIdMissing");
  await share.delete({ deleteSnapshots: "include-leased" });
  assert.equal(await share.exists(), false);
});

test("a snapshot shows the share as it was, despite later changes", async () => {
  const share = await server.newShare();
  await share.getDirectoryClient("dir").create();
  for (const name of ["changed", "deleted", "replaced", "dir/moved", "same"]) {
    await write(share, name, `old ${name}`);
  }
  const snapshot = await snapshotOf(share);
  const root = share.rootDirectoryClient;
  await root.getFileClient("changed").uploadRange("new", 0, 3);
  await root.getFileClient("deleted").delete();
  await write(share, "replaced", "new");
  await root.getFileClient("dir/moved").rename("moved");
  await share.getDirectoryClient("dir").delete();
  await write(share, "created", "new");
  await sweepFiles(server);

  assert.deepEqual(await names(share), ["changed", "created", "moved", "replaced", "same"]);
  assert.deepEqual(await names(snapshot), ["changed", "deleted", "dir", "replaced", "same"]);
  assert.deepEqual(await names(snapshot, "dir"), ["moved"]);
  for (const name of ["changed", "deleted", "replaced", "dir/moved", "same"]) {
    assert.equal(await read(snapshot, name), `old ${name}`);
  }
  assert.equal(await read(share, "changed"), "new changed");
  await refused(
    snapshot.rootDirectoryClient.getFileClient("created").getProperties(),
    404,
    "ResourceNotFound",
  );
});

test("each of several snapshots shows its own time", async () => {
  const share = await server.newShare();
  const snapshots = [];
  for (const round of [1, 2, 3, 4]) {
    if (round !== 3) await write(share, "often", `round ${round}`);
    await write(share, `only${round}`, "");
    snapshots.push(await snapshotOf(share));
  }
  await share.rootDirectoryClient.getFileClient("often").delete();
  const texts = await Promise.all(snapshots.map((snapshot) => read(snapshot, "often")));
  assert.deepEqual(texts, ["round 1", "round 2", "round 2", "round 4"]);
  const second = snapshots[1] as ShareClient;
  assert.deepEqual(await names(second), ["often", "only1", "only2"]);
});

test("snapshots are listed, have their own properties, and are read-only", async () => {
  const share = await server.newShare();
  await share.setMetadata({ a: "b" });
  const { snapshot = "" } = await share.createSnapshot({ metadata: { c: "d" } });
  const taken = share.withSnapshot(snapshot);
  await share.setQuota(9);
  const found = await taken.getProperties();
  assert.deepEqual([found.metadata, found.quota], [{ c: "d" }, 5120]);
  const listed = [];
  for await (const item of server
    .client()
    .listShares({ prefix: share.name, includeSnapshots: true })) {
    if (item.name === share.name) listed.push(item.snapshot);
  }
  assert.deepEqual(listed, [snapshot, undefined]);
  const { code } = await rawRequest(server, {
    method: "PUT",
    path: `/${share.name}/dir?restype=directory&sharesnapshot=${encodeURIComponent(snapshot)}`,
  });
  assert.equal(code, "InvalidQueryParameterValue");
});

test("a missing snapshot is not found", async () => {
  const share = await server.newShare();
  await share.rootDirectoryClient.getFileClient("file").create(1);
  const missing = share.withSnapshot("2026-11-16T00:00:00.0000000Z");
  await refused(missing.getProperties(), 404, "ShareSnapshotNotFound");
  const file = missing.rootDirectoryClient.getFileClient("file");
  await refused(file.getProperties(), 404, "ShareSnapshotNotFound");
  const path = `/${share.name}?restype=share&sharesnapshot=yesterday`;
  assert.equal((await rawRequest(server, { path })).code, "InvalidQueryParameterValue");
});

test("a share with snapshots is deleted only together with them", async () => {
  const share = await server.newShare();
  await snapshotOf(share);
  await refused(share.delete(), 409, "ShareHasSnapshots");
  await share.delete({ deleteSnapshots: "include" });
  await refused(share.getProperties(), 404, "ShareNotFound");
  const headers = { "x-ms-delete-snapshots": "all" };
  const asked = { method: "DELETE", path: "/any?restype=share", headers };
  assert.equal((await rawRequest(server, asked)).code, "InvalidHeaderValue");
});

test("deleting a snapshot leaves the others", async () => {
  const share = await server.newShare();
  await write(share, "file", "one");
  const first = await snapshotOf(share);
  await write(share, "file", "two");
  const second = await snapshotOf(share);
  await write(share, "file", "three");
  await second.delete();
  await sweepFiles(server);
  await refused(second.getProperties(), 404, "ShareSnapshotNotFound");
  assert.equal(await read(first, "file"), "one");
  await write(share, "file", "four");
  assert.equal(await read(first, "file"), "one");
  await first.delete();
  await sweepFiles(server);
  assert.equal(await read(share, "file"), "four");
  await share.delete();
});

test("a share has up to 200 snapshots", async () => {
  const share = await server.newShare();
  for (let made = 0; made < 200; made++) await share.createSnapshot();
  await refused(share.createSnapshot(), 409, "ShareSnapshotCountExceeded");
});

test("ranges can be listed as changes since a snapshot", async () => {
  const share = await server.newShare();
  const file = share.rootDirectoryClient.getFileClient("file");
  await file.create(4096);
  await file.uploadRange("x".repeat(2048), 0, 2048);
  const { snapshot: first = "" } = await share.createSnapshot();
  await file.uploadRange("y".repeat(512), 512, 512);
  await file.clearRange(1024, 512);
  const { snapshot: second = "" } = await share.createSnapshot();
  await file.uploadRange("z".repeat(512), 3072, 512);

  const { ranges, clearRanges } = await file.getRangeListDiff(first);
  assert.deepEqual(ranges, [
    { start: 512, end: 1023 },
    { start: 3072, end: 3583 },
  ]);
  assert.deepEqual(clearRanges, [{ start: 1024, end: 1535 }]);
  const later = await file.getRangeListDiff(second);
  assert.deepEqual(later.ranges, [{ start: 3072, end: 3583 }]);
  await refused(
    file.getRangeListDiff("2026-11-16T00:00:00.0000000Z"),
    409,
    "PreviousSnapshotNotFound",
  );
  const { destinationFileClient: moved } = await file.rename("moved");
  await refused(moved.getRangeListDiff(second), 409, "FileGenerationMismatch");
  const followed = await moved.getRangeListDiff(second, { includeRenames: true });
  assert.deepEqual(followed.ranges, [{ start: 3072, end: 3583 }]);
  await moved.create(10);
  await refused(moved.getRangeListDiff(second), 409, "FileGenerationMismatch");
});
