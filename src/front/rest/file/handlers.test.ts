import assert from "node:assert/strict";
import { test } from "node:test";
import { assertReference } from "../../../base/reference.fixture.ts";
import { routedRows } from "../routed-rows.fixture.ts";
import { FILE_HANDLERS } from "./handlers.ts";
import { FILE_ROUTES, type FileOperationName } from "./route.ts";

test("docs/reference/file-operations.md lists whether each operation is supported", () => {
  assertReference("file-operations.md", reference());
});

test("every operation with a handler has a route", () => {
  const names = new Set(rows().map(({ operation }) => operation));
  for (const operation of Object.keys(FILE_HANDLERS)) {
    assert.ok(names.has(operation as FileOperationName), operation);
  }
});

interface Row {
  readonly operation: FileOperationName;
  readonly request: string;
}

/** Operations that method and `comp` alone do not select. */
const OTHERS: readonly Row[] = [
  { operation: "copyFile", request: "PUT file with `x-ms-copy-source`" },
  { operation: "putRangeFromUrl", request: "PUT file `comp=range` with `x-ms-copy-source`" },
  { operation: "createSymbolicLink", request: "PUT file `restype=symboliclink`" },
  { operation: "getSymbolicLink", request: "GET file `restype=symboliclink`" },
  { operation: "createHardLink", request: "PUT file `restype=hardlink`" },
];

function rows(): Row[] {
  const routed = routedRows<FileOperationName>(FILE_ROUTES);
  return [...routed, ...OTHERS];
}

/** Routed in order to be refused with a specific reason. */
const REFUSED: readonly FileOperationName[] = [
  "createSymbolicLink",
  "getSymbolicLink",
  "createHardLink",
];

function supportOf(operation: FileOperationName): string {
  if (REFUSED.includes(operation)) return "no: for NFS";
  return FILE_HANDLERS[operation] === undefined ? "not yet" : "yes";
}

function reference(): string {
  const lines = rows().map(
    ({ operation, request }) => `| ${operation} | ${request} | ${supportOf(operation)} |`,
  );
  return `# Operations of the File service

Operations on a share carry \`restype=share\`, those on a directory \`restype=directory\`. An operation
that is not supported yet is refused with 501 \`NotImplemented\`, and the response names the operation.
\`listShareSnapshots\` is of this server alone: see [exports and imports](data-in-and-out.md#between-servers-of-ours).

| operation | request | supported |
|---|---|---|
${lines.join("\n")}

## Shares

* A quota is enforced: a file that is created or grows beyond it is refused with 413 \`ShareSizeLimitReached\`. It limits
  the total length of the files, whether or not all of it is written. A quota below the usage is accepted; then nothing can grow.
* A snapshot costs the same for a share of any size, and stores only what changes afterwards. A deleted share's name is
  free at once, and its space is reclaimed in the background; where \`shareRetentionDays\` is
  [configured](configuration.md), it can be restored until then. For 30 seconds another delete of the same share is answered
  with 202 as well, as by the service, which takes that long.
* A share shows when its tier was set: at its creation, or later. For a minute afterwards it also shows the previous tier
  (\`pending-from-hot\`), although nothing has to be moved.
* All shares are for SMB. Headers and operations for NFS (owner, group, mode, links, root squash) and for provisioned
  throughput are refused by name.

## Files and directories

* Names are case-insensitive and case-preserving; names that XML cannot carry are percent-encoded. Text that
  is not Unicode is not a name ([limits](limits.md#text-that-is-not-unicode)). Dots at the end of a name count only with \`x-ms-allow-trailing-dot: true\`.
* \`If-…\` headers are ignored, as by the service: the last writer wins. Leases, handles that are open over SMB, their share modes
  and locks are enforced.
* A new file gets the attribute Archive in addition to those requested, except with \`x-ms-file-property-semantics: Restore\`
  and a permission.
* A read-only file cannot be written, overwritten, deleted or replaced; Set File Properties can make it writable. A rename replaces one with
  \`x-ms-file-rename-ignore-readonly: true\`.
* Set File Properties clears those of the content headers (type, encoding, language, disposition, caching, MD5) that a request does not
  send. A request that resizes the file and sends none of them leaves them unchanged. A resize sets the time of the last write,
  unless the request sets another.
* A cleared range reads as zeroes; space is reclaimed for whole sectors of 512 bytes, and only these
  leave the list of ranges. Partial sectors at both ends of a clear are written with zeroes, and so are
  listed as ranges even if nothing was written there before.
* Changes since a snapshot are listed in whole sectors of 512 bytes, the last of which ends with the file. A sector that was cleared
  in part is listed as written. Since version 2026-10-06 lists of ranges are paged (\`maxresults\`, \`marker\`, \`NextMarker\`).
* Rename Directory replaces a file, never a directory, with \`x-ms-file-rename-replace-if-exists: true\`; a leased one with its lease in
  \`x-ms-destination-lease-id\` (without it: 412 \`LeaseIdMissing\`). A directory has no lease, so \`x-ms-source-lease-id\` is 412
  \`LeaseNotPresentWithFileOperation\`.
* Creating a file over an existing one keeps its open handles, but resets its content: changes
  since an earlier snapshot are refused with 409 \`FileGenerationMismatch\`.
* Equal permissions have the same key, in every share; a key is valid in the shares in which it was stored. Without a permission, files
  and directories inherit from their directory, as in Windows.
* With a SAS, the source of a rename needs its own SAS in its URL: \`r\` or \`w\` for the source, \`w\` for the target. At
  an address such as \`http://127.0.0.1:10003/account\` the JavaScript SDK leaves the account out of the new URL; the server uses
  the account that the signature names. With a bearer token, which names none, use the host of the account
  (\`https://account.file.localhost:10003\`). A token needs an intent (\`x-ms-file-request-intent: backup\`) for files and directories only.

## Sources

Where the service's documentation is silent, these sources decide:

| what | source |
|---|---|
| a request without headers clears them, a resize does not; a resize sets the time of the last write | tests of the JavaScript SDK (\`fileclient.spec.ts\`: setProperties, setHTTPHeaders); recording of \`test_resize_file\` in the Python SDK |
| the partial sectors that a clear covers become ranges; changes in sectors of 512 bytes | tests of the JavaScript SDK (\`fileclient.spec.ts\`: getRangeList, getRangeListDiff) and of the Java SDK (list ranges diff) |
| lists of ranges in pages since 2026-10-06 | documentation of List Ranges; the names in the response are those of Get Page Ranges |
| a directory replaces a file with its lease | recording of \`test_rename_directory_dest_lease\` in the Python SDK; \`directoryclient.spec.ts\` of the JavaScript SDK |
| time and transition of a tier | recording of \`test_set_share_properties\` in the Python SDK |
| a share deleted twice | \`test_share_client_with_oauth\` of the Python SDK, which deletes one share by two clients |
| a SAS that reads the source of a rename and one that writes the target | \`test_rename_directory_share_sas\` of the Python SDK has both letters in one |
`;
}
