import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  type BlobItem,
  BlobSASPermissions,
  type ContainerClient,
  type ContainerListBlobsOptions,
  generateBlobSASQueryParameters,
} from "@azure/storage-blob";
import { rawRequest } from "./raw-request.ts";
import { refused } from "./refused.ts";
import { CREDENTIAL, startServer, type TestServer } from "./server.ts";

let server: TestServer;
let container: ContainerClient;
let blobs = 0;
const settings = { versioning: true, containerRetentionDays: null };

before(async () => {
  server = await startServer({ blob: settings });
  container = server.client().getContainerClient("versions");
  await container.create();
});

after(async () => {
  assert.deepEqual(server.failures, []);
  await server.close();
});

async function newBlob(...texts: string[]) {
  const blob = container.getBlockBlobClient(`blob${blobs++}`);
  const versions: string[] = [];
  for (const text of texts) versions.push((await blob.upload(text, text.length)).versionId ?? "");
  return { blob, versions };
}

async function list(options: ContainerListBlobsOptions, maxPageSize = 5_000): Promise<BlobItem[]> {
  const items: BlobItem[] = [];
  for await (const page of container.listBlobsFlat(options).byPage({ maxPageSize })) {
    items.push(...page.segment.blobItems);
  }
  return items;
}

test("every write that creates a version returns its id, and ids increase", async () => {
  const name = `blob${blobs++}`;
  const blob = container.getBlockBlobClient(name);
  const ids: (string | undefined)[] = [];
  ids.push((await blob.upload("text", 4)).versionId);
  ids.push((await blob.commitBlockList([])).versionId);
  ids.push((await blob.setMetadata({ colour: "blue" })).versionId);
  ids.push((await blob.createSnapshot()).versionId);
  ids.push((await container.getPageBlobClient(name).create(512)).versionId);
  ids.push((await container.getAppendBlobClient(name).create()).versionId);
  for (const id of ids) assert.match(id ?? "", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z$/);
  assert.deepEqual(ids, [...new Set(ids)].sort());
  const { versionId, isCurrentVersion } = await blob.getProperties();
  assert.deepEqual([versionId, isCurrentVersion], [ids.at(-1), true]);
  const listed = await list({ prefix: name, includeVersions: true, includeSnapshots: true });
  const versions = listed.filter(({ snapshot }) => !snapshot);
  assert.deepEqual(
    versions.map((item) => item.versionId),
    ids,
  );
});

test("changes in place affect the current version only", async () => {
  const name = `blob${blobs++}`;
  const pages = container.getPageBlobClient(name);
  const { versionId: first = "" } = await pages.create(1_024);
  await pages.uploadPages("a".repeat(512), 0, 512);
  const { versionId: second = "" } = await pages.setMetadata({ colour: "blue" });
  await pages.uploadPages("b".repeat(512), 512, 512);
  await pages.setHTTPHeaders({ blobContentType: "text/plain" });
  assert.equal((await pages.getProperties()).versionId, second);
  const text = async (id: string) => (await pages.withVersion(id).downloadToBuffer()).toString();
  assert.equal(await text(first), "a".repeat(512) + "\0".repeat(512));
  assert.equal(await text(second), "a".repeat(512) + "b".repeat(512));
});

test("every version is read by its id, and tells whether it is current", async () => {
  const { blob, versions } = await newBlob("one", "two");
  const [first = "", second = ""] = versions;
  const old = await blob.withVersion(first).download();
  assert.deepEqual([old.versionId, old.isCurrentVersion], [first, undefined]);
  assert.equal((await blob.withVersion(first).downloadToBuffer()).toString(), "one");
  const current = await blob.withVersion(second).getProperties();
  assert.deepEqual([current.versionId, current.isCurrentVersion], [second, true]);
  assert.equal(current.leaseState, "available");
  const lists = await rawRequest(server, {
    path: `/versions/${blob.name}?comp=blocklist&versionid=${first}`,
  });
  assert.equal(lists.status, 200);
  const { etag = "" } = await blob.withVersion(first).getProperties();
  const stale = blob.withVersion(first).getProperties({ conditions: { ifNoneMatch: etag } });
  await assert.rejects(stale, { statusCode: 304 });
});

test("deleting a blob preserves its versions", async () => {
  const { blob, versions } = await newBlob("one", "two");
  const gone = await blob.delete();
  // Without soft delete the service reports every deletion as permanent, even if versions stay.
  assert.equal(gone._response.headers.get("x-ms-delete-type-permanent"), "true");
  await refused(blob.getProperties(), 404, "BlobNotFound");
  const [first = "", second = ""] = versions;
  assert.equal((await blob.withVersion(second).downloadToBuffer()).toString(), "two");
  const prefix = blob.name;
  assert.deepEqual(await list({ prefix }), []);
  const listed = await list({ prefix, includeVersions: true });
  assert.deepEqual(
    listed.map(({ versionId, isCurrentVersion }) => [versionId, isCurrentVersion]),
    [
      [first, undefined],
      [second, undefined],
    ],
  );
  const only = await list({ prefix, includeDeletedWithVersions: true });
  assert.deepEqual(
    only.map(({ name, hasVersionsOnly, versionId }) => [name, hasVersionsOnly, versionId]),
    [[blob.name, true, undefined]],
  );
  await blob.upload("three", 5);
  assert.equal(
    (await list({ prefix, includeDeletedWithVersions: true }))[0]?.hasVersionsOnly,
    undefined,
  );
  assert.equal((await list({ prefix, includeVersions: true })).length, 3);
});

test("a version is deleted by its id, unless it is the current one", async () => {
  const { blob, versions } = await newBlob("one", "two", "three");
  const [first = "", second = "", third = ""] = versions;
  await refused(blob.withVersion(third).delete(), 403, "OperationNotAllowedOnRootBlob");
  await blob.withVersion(second).delete();
  await refused(blob.withVersion(second).getProperties(), 404, "BlobNotFound");
  assert.equal((await blob.withVersion(first).downloadToBuffer()).toString(), "one");
  assert.equal((await blob.downloadToBuffer()).toString(), "three");
  await blob.delete();
  await blob.withVersion(third).delete();
  await blob.withVersion(first).delete();
  assert.deepEqual(await list({ prefix: blob.name, includeVersions: true }), []);
});

test("a blob with snapshots and versions lists both, and is deleted with its snapshots", async () => {
  const { blob, versions } = await newBlob("one");
  const { snapshot = "", versionId: second = "" } = await blob.createSnapshot();
  const prefix = blob.name;
  for (const pageSize of [1, 2, 5_000]) {
    const listed = await list({ prefix, includeVersions: true, includeSnapshots: true }, pageSize);
    assert.deepEqual(
      listed.map((item) => item.snapshot || item.versionId),
      [versions[0], snapshot, second],
    );
    assert.deepEqual(
      listed.map((item) => item.isCurrentVersion),
      [undefined, undefined, true],
    );
  }
  await refused(blob.delete(), 409, "SnapshotsPresent");
  await blob.delete({ deleteSnapshots: "include" });
  assert.equal((await list({ prefix, includeVersions: true, includeSnapshots: true })).length, 2);
});

test("versions are listed by hierarchy, too", async () => {
  const prefix = `level${blobs++}/`;
  for (const name of ["a", "b/c", "b/d"]) {
    const blob = container.getBlockBlobClient(prefix + name);
    await blob.upload("one", 3);
    await blob.upload("two", 3);
    if (name !== "a") await blob.delete();
  }
  const found: string[] = [];
  const levels = container.listBlobsByHierarchy("/", { prefix, includeVersions: true });
  for await (const item of levels) found.push(`${item.kind} ${item.name.slice(prefix.length)}`);
  assert.deepEqual(found.sort(), ["blob a", "blob a", "prefix b/"]);
});

test("a lease protects the current version, not earlier ones", async () => {
  const { blob, versions } = await newBlob("one", "two");
  const lease = blob.getBlobLeaseClient();
  await lease.acquireLease(-1);
  await refused(blob.delete(), 412, "LeaseIdMissing");
  const old = blob.withVersion(versions[0] ?? "");
  assert.equal((await old.getProperties()).leaseState, undefined);
  await old.delete();
  await blob.upload("three", 5, { conditions: { leaseId: lease.leaseId } });
  const second = await blob.withVersion(versions[1] ?? "").getProperties();
  assert.equal(second.leaseState, undefined);
});

function sas(letters: string, blobName: string, more: { versionId?: string } = {}): string {
  return generateBlobSASQueryParameters(
    {
      containerName: "versions",
      blobName,
      permissions: BlobSASPermissions.parse(letters),
      expiresOn: new Date(Date.now() + 3_600_000),
      ...more,
    },
    CREDENTIAL,
  ).toString();
}

test("deleting a version requires the letter x, a snapshot d", async () => {
  const { blob, versions } = await newBlob("one", "two");
  const { snapshot = "" } = await blob.createSnapshot();
  const ask = async (query: string, letters: string) => {
    const path = `/versions/${blob.name}?${query}&${sas(letters, blob.name)}`;
    return (await rawRequest(server, { method: "DELETE", path, signed: false })).status;
  };
  assert.equal(await ask(`versionid=${versions[0]}`, "racwdytmei"), 403);
  assert.equal(await ask(`versionid=${versions[0]}`, "x"), 202);
  assert.equal(await ask(`snapshot=${snapshot}`, "racwxytmei"), 403);
  assert.equal(await ask(`snapshot=${snapshot}`, "d"), 202);
});

test("a SAS for one version grants that version, and its deletion with the letter x only", async () => {
  const { blob, versions } = await newBlob("one", "two");
  const [first = "", second = ""] = versions;
  const ask = async (method: string, query: string) => {
    const path = `/versions/${blob.name}?${query}`;
    return (await rawRequest(server, { method, path, signed: false })).status;
  };
  const token = sas("rx", blob.name, { versionId: first });
  assert.equal(await ask("GET", `versionid=${first}&${token}`), 200);
  assert.equal(await ask("GET", `versionid=${second}&${token}`), 403);
  assert.equal(await ask("GET", token), 403);
  const without = sas("rd", blob.name, { versionId: first });
  assert.equal(await ask("DELETE", `versionid=${first}&${without}`), 403);
  assert.equal(await ask("DELETE", `versionid=${first}&${token}`), 202);
});
