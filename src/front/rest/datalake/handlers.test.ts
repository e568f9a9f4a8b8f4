import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { assertReference } from "../../../base/reference.fixture.ts";
import { DATALAKE_HANDLERS } from "./handlers.ts";
import { DATALAKE_ROUTES, type DataLakeOperationName } from "./route.ts";

test("docs/reference/datalake-operations.md lists every operation with its test", () => {
  assertReference("datalake-operations.md", reference());
});

test("every operation has a handler and a test", () => {
  const names = rows().map(([operation]) => operation);
  assert.deepEqual([...new Set(names)].sort(), Object.keys(DATALAKE_HANDLERS).sort());
  for (const file of Object.values(TESTS)) {
    assert.ok(existsSync(new URL(`../../../../../${file}`, import.meta.url)), file);
  }
});

/** The test of each operation with an official client or, where no client sends it, without. */
const TESTS: Readonly<Record<DataLakeOperationName, string>> = {
  listFilesystems: "test/sdk/datalake-filesystems.test.ts",
  createFilesystem: "test/sdk/datalake-filesystems.test.ts",
  getFilesystemProperties: "test/sdk/datalake-filesystems.test.ts",
  setFilesystemProperties: "test/sdk/datalake-filesystems.test.ts",
  deleteFilesystem: "test/sdk/datalake-filesystems.test.ts",
  listPaths: "test/sdk/datalake-files.test.ts",
  createPath: "test/sdk/datalake-files.test.ts",
  renamePath: "test/sdk/datalake-paths.test.ts",
  readPath: "test/raw/datalake-requests.test.ts",
  getPathProperties: "test/raw/datalake-requests.test.ts",
  getPathStatus: "test/sdk/datalake-acl.test.ts",
  getAccessControl: "test/sdk/datalake-acl.test.ts",
  checkAccess: "test/sdk/datalake-check-access.test.ts",
  setAccessControl: "test/sdk/datalake-acl.test.ts",
  setAccessControlRecursive: "test/sdk/datalake-acl.test.ts",
  appendData: "test/sdk/datalake-files.test.ts",
  flushData: "test/sdk/datalake-files.test.ts",
  setPathProperties: "test/raw/datalake-requests.test.ts",
  leasePath: "test/raw/datalake-requests.test.ts",
  deletePath: "test/sdk/datalake-files.test.ts",
};

type Row = readonly [operation: DataLakeOperationName, request: string];

function rows(): Row[] {
  const routed = Object.entries(DATALAKE_ROUTES).flatMap(([level, routes]) =>
    Object.entries(routes).map(([route, operation]): Row => {
      const [method = "", value] = route.split(" ");
      const parameter = level === "path" && method !== "PUT" ? "action" : "resource";
      const query = value === undefined ? "" : ` \`${parameter}=${value}\``;
      return [operation as DataLakeOperationName, `${method} ${level}${query}`];
    }),
  );
  return [...routed, ["renamePath", "PUT path with `x-ms-rename-source`"]];
}

function reference(): string {
  const lines = rows().map(([operation, request]) => {
    const file = TESTS[operation];
    return `| ${operation} | ${request} | yes | [${file.split("/").at(-1)}](../../${file}) |`;
  });
  return `# Operations of Data Lake

The Data Lake endpoint is a second door to the [Blob service](blob-operations.md): a file system is a container, a file is a
block blob. It listens on port 10004 (\`--dfsPort\`) and answers hosts such as \`account.dfs.localhost\` at any port. How to use it:
[the guide](../guides/data-lake.md).

| operation | request | supported | test |
|---|---|---|---|
${lines.join("\n")}
| setExpiry | PUT path \`comp=expiry\`, as Set Blob Expiry | yes | [datalake-paths.test.ts](../../test/sdk/datalake-paths.test.ts) |
| undelete | PUT path \`comp=undelete\`, as Undelete Blob | yes | [datalake-restore.test.ts](../../test/sdk/datalake-restore.test.ts) |
| listBlobHierarchySegment | GET filesystem \`restype=container\` \`comp=list\` \`showonly=deleted\`, as List Blobs | yes | [datalake-restore.test.ts](../../test/sdk/datalake-restore.test.ts) |

## Two protocols at one port

* Clients that know the server by its address alone send requests of both protocols to the same port, so each port answers both. What only
  one protocol has (\`resource\`, \`action\`, PATCH, POST, \`x-ms-rename-source\`; \`comp\`, \`restype\`) is answered in it.
* GET, HEAD and DELETE of a path are in both. At the Blob port they are of Blob. At the Data Lake endpoint they are of Data Lake, unless
  \`Accept\` names \`application/xml\`, which only clients of Blob send. Errors are XML in Blob and JSON in Data Lake, and some
  [have other codes](errors.md).

## File systems

* A container is *hierarchical* (its directories are its own) or *flat*. \`hierarchicalNamespace\` in the
  [configuration](configuration.md) of an account says which; without it, containers made at the Data Lake endpoint are hierarchical,
  and others are flat. \`x-ms-namespace-enabled\` tells.
* In a flat container a directory is a blob with the metadata \`hdi_isfolder=true\`, or exists as long as something lies in it. Renames
  and deletes of directories take several requests if there is much in them (\`x-ms-continuation\`). Access control and expiry
  are refused with 400 \`HierarchicalNamespaceNotEnabled\`.

## Files

* Data that is appended waits under its position until a flush makes it part of the file; only the flush changes the ETag. Appends may come
  in any order and at once. A flush needs all data up to its position, without gaps and overlaps, or it is refused with 400
  \`InvalidFlushPosition\`, and nothing changes. Appending before the end of the file is 400 \`InvalidQueryParameterValue\`. What nobody
  flushes for a week is dropped.
* \`x-ms-lease-action\` of an append or flush acquires, renews or releases the lease of the file in the same step. Only a request that
  flushes can release.
* Data Lake appends only to files that it created: others are 409 \`InvalidFlushOperation\`. Put Block and Put Block List on
  a file of Data Lake are 409 \`BlobOperationNotSupported\`; Put Blob replaces it.
* Create Path replaces a file, with its data and its expiry; \`If-None-Match: *\` makes it fail instead (409
  \`PathAlreadyExists\`). A file and a directory do not replace each other (409 \`PathConflict\`).
* Set Properties replaces all user-defined properties, and of the content headers only those that it names. A flush changes those
  that it names, and clears the MD5 that it does not.
* A rename replaces a file by a file and an empty directory by a directory, in either \`mode\`. It ends the lease of what it replaces.
  The source may be named with or without the account, and with a SAS of its own.
* \`close\` is accepted and changes nothing: there are no change notifications here. \`upn\` shows ids as they are: there is no
  directory of users here.
* A file or directory can have a [key](blob-operations.md#customer-provided-keys) (\`x-ms-encryption-key…\`), which is given when it is created. Then every append,
  flush and read needs it. A rename takes none.
* Refused with 400 \`UnsupportedHeader\`: encryption scopes.

## The Blob endpoint on hierarchical containers

* Directories are shown as empty blobs with \`x-ms-resource-type: directory\` and the metadata \`hdi_isfolder=true\`. An empty
  blob that is written with this metadata is a directory. Every write creates the directories above.
* List Blobs shows directories as blobs, each before what lies in it, or with the delimiter \`/\` as prefixes. Another delimiter is
  400 \`InvalidQueryParameterValue\`.
* Delete Blob removes empty directories only (409 \`DirectoryIsNotEmpty\`). Snapshots, tiers and
  \`x-ms-delete-snapshots\` are for files (400 \`OperationNotSupportedOnDirectory\`).
* A file and a directory do not replace each other, and nothing lies below a file (409 \`PathConflict\`).
* Page blobs, incremental copies and tags are refused with 409
  \`FeatureNotYetSupportedForHierarchicalNamespaceAccounts\`. Files have no versions, and soft delete does not protect one that is replaced.
* Slashes that repeat or end a path name nothing: \`a//b/\` is \`a/b\`.

## Sources

| what | source |
|---|---|
| codes and messages | the list of errors in the specification of 2019-10-31 |
| \`InvalidFlushOperation\` for files of the Blob service | its message in that list |
| a rename ends the lease of what it replaces | text of Path Create in the specification |
| deletions are listed by \`showonly=deleted\` and restored by \`deletionid\` | the JavaScript SDK |
| the Blob endpoint on hierarchical containers | the service's pages on known issues of Data Lake and on supported features |
| \`FeatureNotYetSupportedForHierarchicalNamespaceAccounts\`, \`DirectoryIsNotEmpty\`, \`OperationNotSupportedOnDirectory\` | issues of azure-storage-node (632), azure-cli (23062) and azure-storage-fuse (1068) |
| lists write numbers as texts, and the ETag under two names | the JavaScript SDK reads \`eTag\`, the .NET SDK \`etag\` |
`;
}
