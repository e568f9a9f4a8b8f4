import assert from "node:assert/strict";
import { test } from "node:test";
import { DataLakeFileSystemClient } from "@azure/storage-file-datalake";
import { startDataLake } from "./datalake-server.ts";
import { rawRequest } from "./raw-request.ts";
import { refused } from "./refused.ts";
import { forThisFile } from "./server.ts";

const server = await forThisFile(startDataLake());
const flat = await forThisFile(startDataLake({ hierarchicalNamespace: false }));
const blobDoor = await forThisFile(startDataLake({ door: "blob" }));

for (const [how, client] of [
  ["at an address", server.client()],
  ["by host name", server.hostClient()],
] as const) {
  test(`${how}: a file system is created, described, leased and deleted`, async () => {
    const name = how.replaceAll(" ", "-");
    const filesystem = client.getFileSystemClient(name);
    await filesystem.create({ metadata: { a: "1" } });
    assert.equal((await filesystem.createIfNotExists()).succeeded, false);
    await refused(filesystem.create(), 409, "ContainerAlreadyExists");
    assert.equal(await filesystem.exists(), true);
    assert.deepEqual((await filesystem.getProperties()).metadata, { a: "1" });
    await filesystem.setMetadata({ b: "2" });
    assert.deepEqual((await filesystem.getProperties()).metadata, { b: "2" });
    await filesystem.setAccessPolicy("file");
    assert.equal((await filesystem.getAccessPolicy()).publicAccess, "file");
    const lease = filesystem.getDataLakeLeaseClient();
    await lease.acquireLease(15);
    await refused(filesystem.delete(), 412, "LeaseIdMissing");
    await lease.releaseLease();
    const names: string[] = [];
    for await (const one of client.listFileSystems({ prefix: name, includeMetadata: true })) {
      names.push(`${one.name} ${one.metadata?.b}`);
    }
    assert.deepEqual(names, [`${name} 2`]);
    await filesystem.delete();
    assert.equal(await filesystem.exists(), false);
    assert.equal((await filesystem.deleteIfExists()).succeeded, false);
  });
}

test("file systems of the Data Lake endpoint have directories, others only if configured", async () => {
  const kindOf = async (path: string, at = server) => {
    const { headers } = await rawRequest(at, { method: "HEAD", path });
    return headers.get("x-ms-namespace-enabled");
  };
  const create = (at: typeof server, path: string) => rawRequest(at, { method: "PUT", path });
  await create(server, "/kind-1?resource=filesystem");
  await create(server, "/kind-2?restype=container");
  for (const name of ["kind-1", "kind-2"]) {
    assert.equal(await kindOf(`/${name}?resource=filesystem`), "true");
  }
  await create(flat, "/kind-3?resource=filesystem");
  assert.equal(await kindOf("/kind-3?resource=filesystem", flat), "false");
  await create(blobDoor, "/kind-4?restype=container");
  assert.equal(await kindOf("/kind-4?resource=filesystem", blobDoor), "false");
  const byHost = blobDoor.hostClient().getFileSystemClient("kind-5");
  await byHost.create();
  assert.equal(await kindOf("/kind-5?resource=filesystem", blobDoor), "true");
  await create(blobDoor, "/kind-6?resource=filesystem");
  assert.equal(await kindOf("/kind-6?resource=filesystem", blobDoor), "true");
});

test("the protocol's own requests: create, list, properties, delete", async () => {
  const asked = (method: string, path: string, headers = {}) =>
    rawRequest(server, { method, path, headers });
  const made = await asked("PUT", "/own-1?resource=filesystem", {
    "x-ms-properties": "a=MQ==, b=w7w=",
  });
  assert.deepEqual([made.status, made.headers.get("x-ms-namespace-enabled")], [201, "true"]);
  const again = await asked("PUT", "/own-1?resource=filesystem");
  assert.deepEqual([again.status, again.code], [409, "FilesystemAlreadyExists"]);
  assert.deepEqual(JSON.parse(again.text).error.code, "FilesystemAlreadyExists");
  await asked("PUT", "/own-2?resource=filesystem");
  const head = await asked("HEAD", "/own-1?resource=filesystem");
  assert.equal(head.headers.get("x-ms-properties"), "a=MQ==,b=w7w=");
  const set = await asked("PATCH", "/own-1?resource=filesystem", { "x-ms-properties": "c=Mw==" });
  assert.equal(set.status, 200);
  const changed = await asked("HEAD", "/own-1?resource=filesystem");
  assert.equal(changed.headers.get("x-ms-properties"), "c=Mw==");
  const first = await asked("GET", "/?resource=account&prefix=own-&maxResults=1");
  const continuation = first.headers.get("x-ms-continuation") ?? "";
  assert.deepEqual(JSON.parse(first.text).filesystems.length, 1);
  const query = `continuation=${encodeURIComponent(continuation)}`;
  const second = await asked("GET", `/?resource=account&prefix=own-&${query}`);
  assert.deepEqual(JSON.parse(second.text).filesystems[0].name, "own-2");
  assert.equal(second.headers.get("x-ms-continuation"), null);
  assert.equal((await asked("DELETE", "/own-1?resource=filesystem")).status, 202);
  const gone = await asked("HEAD", "/own-1?resource=filesystem");
  assert.deepEqual([gone.status, gone.code], [404, "FilesystemNotFound"]);
  const list = await asked("GET", "/own-1?resource=filesystem&recursive=true");
  assert.deepEqual([list.status, list.code], [404, "FilesystemNotFound"]);
});

test("a SAS for a file system opens it and what lies in it", async () => {
  const filesystem = await server.makeFilesystem();
  await filesystem.getFileClient("d/f").upload(Buffer.from("bytes"));
  const { FileSystemSASPermissions } = await import("@azure/storage-file-datalake");
  const url = await filesystem.generateSasUrl({
    permissions: FileSystemSASPermissions.parse("rl"),
    expiresOn: new Date(Date.now() + 3_600_000),
  });
  const open = new DataLakeFileSystemClient(url);
  assert.equal((await open.getFileClient("d/f").readToBuffer()).toString(), "bytes");
  const names: string[] = [];
  for await (const { name = "" } of open.listPaths({ recursive: true })) names.push(name);
  assert.deepEqual(names, ["d", "d/f"]);
  await refused(open.getFileClient("x").create(), 403, "AuthorizationPermissionMismatch");
});
