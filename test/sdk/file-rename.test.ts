import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  AccountSASPermissions,
  FileSystemAttributes,
  generateAccountSASQueryParameters,
  generateFileSASQueryParameters,
  ShareFileClient,
  ShareSASPermissions,
  StorageSharedKeyCredential,
} from "@azure/storage-file-share";
import { type FileServer, startFileServer } from "./file-server.ts";
import { rawRequest } from "./raw-request.ts";
import { refused } from "./refused.ts";

const OTHER_LEASE = "00000000-0000-0000-0000-00000000000a";

let server: FileServer;

before(async () => {
  server = await startFileServer();
});

after(async () => {
  await server.close();
  assert.deepEqual(server.failures, []);
});

test("a renamed file stays the same file", async () => {
  const share = await server.newShare();
  await share.getDirectoryClient("dir").create();
  const file = share.rootDirectoryClient.getFileClient("old name");
  await file.create(5, { metadata: { a: "b" } });
  await file.uploadRange("hello", 0, 5);
  const before = await file.getProperties();
  const { destinationFileClient: moved } = await file.rename("dir/new name");
  const after = await moved.getProperties();
  assert.deepEqual([after.fileId, after.metadata], [before.fileId, { a: "b" }]);
  assert.notEqual(after.etag, before.etag);
  assert.notEqual(after.fileParentId, before.fileParentId);
  assert.equal((await moved.downloadToBuffer()).toString(), "hello");
  await refused(file.getProperties(), 404, "ResourceNotFound");
});

test("a rename can change the case of a name only", async () => {
  const share = await server.newShare();
  const file = share.rootDirectoryClient.getFileClient("readme");
  await file.create(1);
  await file.rename("README");
  const names = [];
  for await (const { name } of share.rootDirectoryClient.listFilesAndDirectories())
    names.push(name);
  assert.deepEqual(names, ["README"]);
});

test("a rename replaces a file only on request, and a read-only file only on another request", async () => {
  const share = await server.newShare();
  const root = share.rootDirectoryClient;
  const file = root.getFileClient("file");
  const other = root.getFileClient("other");
  await file.create(1);
  await other.create(2, { fileAttributes: FileSystemAttributes.parse("ReadOnly") });
  await refused(file.rename("other"), 409, "ResourceAlreadyExists");
  await refused(file.rename("other", { replaceIfExists: true }), 409, "ReadOnlyAttribute");
  await file.rename("other", { replaceIfExists: true, ignoreReadOnly: true });
  assert.equal((await other.getProperties()).contentLength, 1);
  await share.getDirectoryClient("dir").create();
  await refused(other.rename("dir", { replaceIfExists: true }), 409, "ResourceAlreadyExists");
});

test("a rename can set properties, too", async () => {
  const share = await server.newShare();
  const file = share.rootDirectoryClient.getFileClient("file");
  await file.create(1, { metadata: { a: "b" } });
  const { destinationFileClient: moved } = await file.rename("moved", {
    metadata: { c: "d" },
    contentType: "text/plain",
    copyFileSmbInfo: {
      fileAttributes: "Hidden",
      fileCreationTime: "2001-01-01T00:00:00.0000000Z",
    },
  });
  const found = await moved.getProperties();
  assert.deepEqual(
    [found.metadata, found.contentType, found.fileAttributes, found.fileCreatedOn],
    [{ c: "d" }, "text/plain", "Hidden", new Date("2001-01-01T00:00:00Z")],
  );
});

test("a directory moves with its contents, atomically", async () => {
  const share = await server.newShare();
  const directory = share.getDirectoryClient("a");
  await directory.create();
  await directory.getDirectoryClient("b").create();
  await directory.getDirectoryClient("b").getFileClient("file").create(3);
  const { fileId } = await directory.getProperties();
  const { destinationDirectoryClient: moved } = await directory.rename("c");
  assert.equal((await moved.getProperties()).fileId, fileId);
  const file = moved.getDirectoryClient("b").getFileClient("file");
  assert.equal((await file.getProperties()).contentLength, 3);
  await refused(directory.getProperties(), 404, "ResourceNotFound");
});

test("a directory moves neither into itself nor over another directory", async () => {
  const share = await server.newShare();
  const directory = share.getDirectoryClient("a");
  await directory.create();
  await directory.getDirectoryClient("b").create();
  await share.getDirectoryClient("c").create();
  await share.rootDirectoryClient.getFileClient("file").create(1);
  await refused(directory.rename("a/b/d"), 400, "InvalidInput");
  await refused(directory.rename("c"), 409, "ResourceAlreadyExists");
  await refused(directory.rename("file"), 409, "ResourceAlreadyExists");
  await refused(directory.rename("missing/d"), 404, "ParentNotFound");
  await directory.getDirectoryClient("b").getProperties();
});

test("a directory replaces a file only on request, and a read-only file only on another request", async () => {
  const share = await server.newShare();
  const directory = share.getDirectoryClient("dir");
  await directory.create();
  await directory.getFileClient("inner").create(3);
  const file = share.rootDirectoryClient.getFileClient("file");
  await file.create(7, { fileAttributes: FileSystemAttributes.parse("ReadOnly") });
  const { snapshot = "" } = await share.createSnapshot();
  const { shareUsageBytes: before } = await share.getStatistics();
  await refused(directory.rename("file"), 409, "ResourceAlreadyExists");
  await refused(directory.rename("file", { replaceIfExists: true }), 409, "ReadOnlyAttribute");
  await directory.rename("file", { replaceIfExists: true, ignoreReadOnly: true });
  const moved = share.getDirectoryClient("file");
  assert.equal((await moved.getFileClient("inner").getProperties()).contentLength, 3);
  await refused(file.getProperties(), 409, "ResourceTypeMismatch");
  await refused(directory.getProperties(), 404, "ResourceNotFound");
  assert.deepEqual([before, (await share.getStatistics()).shareUsageBytes], [10, 3]);
  const then = file.withShareSnapshot(snapshot);
  assert.equal((await then.getProperties()).contentLength, 7);
});

test("a directory replaces a leased file only with its lease id", async () => {
  const share = await server.newShare();
  const directory = share.getDirectoryClient("dir");
  await directory.create();
  const file = share.rootDirectoryClient.getFileClient("file");
  await file.create(1);
  const { leaseId = "" } = await file.getShareLeaseClient().acquireLease(-1);
  const replace = (id?: string) =>
    directory.rename("file", {
      replaceIfExists: true,
      ...(id !== undefined && { destinationLeaseAccessConditions: { leaseId: id } }),
    });
  await refused(replace(), 412, "LeaseIdMissing");
  await refused(replace(OTHER_LEASE), 412, "LeaseIdMismatchWithFileOperation");
  await replace(leaseId);
  await share.getDirectoryClient("file").getProperties();
});

test("a lease id for a directory or a missing target is refused", async () => {
  const share = await server.newShare();
  const directory = share.getDirectoryClient("a");
  await directory.create();
  for (const name of ["sourceLeaseAccessConditions", "destinationLeaseAccessConditions"]) {
    const leased = { [name]: { leaseId: OTHER_LEASE } };
    await refused(directory.rename("b", leased), 412, "LeaseNotPresentWithFileOperation");
  }
});

test("a percent-encoded slash separates path segments, too", async () => {
  const share = await server.newShare();
  await share.getDirectoryClient("from").create();
  await share.getDirectoryClient("to").create();
  const answer = await rawRequest(server, {
    method: "PUT",
    path: `/${share.name}/to%2Fmoved?restype=directory&comp=rename`,
    headers: { "x-ms-file-rename-source": `${server.url}/${share.name}/from` },
  });
  assert.equal(answer.status, 200);
  await share.getDirectoryClient("to/moved").getProperties();
});

test("a rename requires a source in the same share", async () => {
  const share = await server.newShare();
  const other = await server.newShare();
  await other.rootDirectoryClient.getFileClient("file").create(1);
  const rename = async (source: string | null) => {
    const headers: Record<string, string> =
      source === null ? {} : { "x-ms-file-rename-source": source };
    const path = `/${share.name}/new?comp=rename`;
    return (await rawRequest(server, { method: "PUT", path, headers })).code;
  };
  assert.equal(await rename(null), "MissingRequiredHeader");
  assert.equal(await rename("file"), "InvalidHeaderValue");
  assert.equal(await rename(`${server.url}/${other.name}/file`), "InvalidHeaderValue");
  assert.equal(await rename(`${server.url}/${share.name}/file`), "ResourceNotFound");
});

/** With `http://127.0.0.1:port/account` the client leaves the account out of the new URL. */
test("the client renames if the path names the account, too", async () => {
  const share = server.client().getShareClient("by-path");
  await share.create();
  const directory = share.getDirectoryClient("directory");
  await directory.create();
  const file = directory.getFileClient("file");
  await file.create(5);
  const { destinationFileClient } = await file.rename("directory/new name");
  assert.match(destinationFileClient.url, /:\d+\/by-path\/directory\/new%20name$/);
  assert.equal((await destinationFileClient.getProperties()).contentLength, 5);
  const { destinationDirectoryClient } = await directory.rename("moved");
  assert.equal(await destinationDirectoryClient.exists(), true);
  const moved = share.getDirectoryClient("moved").getFileClient("new name");
  assert.equal((await moved.getProperties()).contentLength, 5);
  await refused(file.getProperties(), 404, "ParentNotFound");
});

test("a rename with a SAS works if the path names the account, too", async () => {
  const share = server.client().getShareClient("by-sas");
  await share.create();
  const credential = new StorageSharedKeyCredential(server.account, server.key);
  const ends = { expiresOn: new Date(Date.now() + 3_600_000) };
  const letters = ShareSASPermissions.parse("rcw");
  const tokens = {
    service: generateFileSASQueryParameters(
      { ...ends, shareName: share.name, permissions: letters },
      credential,
    ),
    account: generateAccountSASQueryParameters(
      {
        ...ends,
        permissions: AccountSASPermissions.parse("rcw"),
        resourceTypes: "o",
        services: "f",
      },
      credential,
    ),
  };
  for (const [kind, sas] of Object.entries(tokens)) {
    const { url } = share.rootDirectoryClient.getFileClient(kind);
    const file = new ShareFileClient(`${url}?${sas}`);
    await file.create(3);
    await file.rename(`${kind}-moved`);
    const moved = share.rootDirectoryClient.getFileClient(`${kind}-moved`);
    assert.equal((await moved.getProperties()).contentLength, 3, kind);
  }
});
