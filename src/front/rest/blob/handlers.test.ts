import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { assertReference } from "../../../base/reference.fixture.ts";
import { routedRows } from "../routed-rows.fixture.ts";
import { BLOB_HANDLERS } from "./handlers.ts";
import { BLOB_ROUTES, type BlobOperationName } from "./route.ts";

test("docs/reference/blob-operations.md states for every operation whether it is supported", () => {
  assertReference("blob-operations.md", reference());
});

test("every operation with a handler has a route", () => {
  const names = new Set(rows().map(({ operation }) => operation));
  for (const operation of Object.keys(BLOB_HANDLERS)) {
    assert.ok(names.has(operation as BlobOperationName), operation);
  }
});

interface Row {
  readonly operation: BlobOperationName;
  readonly request: string;
}

/** Operations whose route depends on more than method and query. */
const BY_HEADERS: readonly Row[] = [
  { operation: "copyBlob", request: "PUT blob with `x-ms-copy-source`" },
  {
    operation: "copyBlobFromUrl",
    request: "PUT blob with `x-ms-copy-source` and `x-ms-requires-sync: true`",
  },
  { operation: "putBlobFromUrl", request: "PUT blob with `x-ms-copy-source` and `x-ms-blob-type`" },
  { operation: "putBlockFromUrl", request: "PUT blob `comp=block` with `x-ms-copy-source`" },
  { operation: "putPageFromUrl", request: "PUT blob `comp=page` with `x-ms-copy-source`" },
  {
    operation: "appendBlockFromUrl",
    request: "PUT blob `comp=appendblock` with `x-ms-copy-source`",
  },
];

test("docs/reference/features.md names every operation that is refused", () => {
  const page = new URL("../../../../../docs/reference/features.md", import.meta.url);
  const row = /^\| Refused so far \| (.*?):/m.exec(readFileSync(page, "utf8"))?.[1] ?? "";
  const refused = rows().filter(({ operation }) => BLOB_HANDLERS[operation] === undefined);
  assert.deepEqual(
    row.split(", ").sort(),
    refused.map(({ operation }) => inWords(operation)).sort(),
  );
});

/** Formats `queryBlob` as Query Blob. */
function inWords(operation: string): string {
  return operation.replace(/^.|[A-Z]/g, (letter, at) =>
    at > 0 ? ` ${letter}` : letter.toUpperCase(),
  );
}

function rows(): Row[] {
  const routed = routedRows<BlobOperationName>(BLOB_ROUTES);
  const information = "GET anything `comp=properties` `restype=account`";
  return [...routed, { operation: "getAccountInformation", request: information }, ...BY_HEADERS];
}

function reference(): string {
  const lines = rows().map(({ operation, request }) => {
    const isSupported = BLOB_HANDLERS[operation] !== undefined;
    return `| ${operation} | ${request} | ${isSupported ? "yes" : "not yet"} |`;
  });
  return `# Operations of the Blob service

Operations on a container carry \`restype=container\`. Operations that are not supported yet are refused with
501 \`NotImplemented\`, and the answer names the operation. \`placeRevision\`, \`getBlock\` and \`pipeline\` are of this server alone: see [exports and imports](data-in-and-out.md#between-servers-of-ours).

| operation | request | supported |
|---|---|---|
${lines.join("\n")}

## Customer-provided keys

A request may carry a key of its own (\`x-ms-encryption-key\`, \`x-ms-encryption-key-sha256\`, \`x-ms-encryption-algorithm: AES256\`). Bytes and
metadata that come with it are stored encrypted with AES-256. The server stores the SHA-256 of the key, never the key: without it, nobody can read
them again.

| | |
|---|---|
| write with a key | Put Blob (all types), Put Block, Put Block List, Append Block, Put Page, the same from a URL, Set Blob Metadata, Snapshot Blob; Create Path, Append Data, Flush Data, Set Properties |
| read with a key | Get Blob, Get Blob Properties, Get Blob Metadata; Read Path, Get Properties. \`x-ms-encryption-algorithm\` may be left out |
| take no key, and need none | Delete, leases, tags, tiers, properties, the size of a page blob, lists, Get Block List, Get Page Ranges, renames, ACLs. All but Set Blob Properties refuse one by name |
| sources | \`x-ms-source-encryption-…\` is the key of the source, where bytes come from a URL. Copy Blob and Copy Blob From URL take none, so a source with a key is 409 \`CannotVerifyCopySource\` |
| one key for each blob | A write that replaces a blob chooses anew. Everything that is added has the blob's key, and a list of blocks that of its blocks. A snapshot or version keeps the key that it had |
| refusals | without the key: 409 \`BlobUsesCustomerSpecifiedEncryption\`; with another: 409 \`BlobCustomerSpecifiedEncryptionMismatch\`; a key where there is none: 409 \`BlobDoesNotUseCustomerSpecifiedEncryption\` |
| bad input | a header is missing: 400 \`MissingRequiredHeader\`; the key has not 32 bytes, or another hash: 400 \`InvalidHeaderValue\` |
| network | Keys are accepted over https, and over http from this machine (127.0.0.0/8, ::1) only: otherwise 400 \`InvalidHeaderValue\`. Official clients send keys over https only |
| lists | \`CustomerProvidedKeySha256\`, and \`<Metadata Encrypted="true" />\` instead of metadata |

## Features that are refused

No header of the service is accepted and ignored. A request for one of these features gets 400
\`UnsupportedHeader\`, which names the header, or the answer in the table.

| feature | headers, operations and answers |
|---|---|
| encryption scopes | \`x-ms-encryption-scope\`, \`x-ms-default-encryption-scope\`, \`x-ms-deny-encryption-scope-override\`; writing with a SAS that has \`ses\`: 400 \`UnsupportedQueryParameter\` |
| immutability and legal hold | \`x-ms-immutability-policy-…\`, \`x-ms-legal-hold\`; setImmutabilityPolicy, deleteImmutabilityPolicy, setLegalHold: 501 |
| expiry on creation | \`x-ms-expiry-…\`; Set Blob Expiry works in [containers with directories](datalake-operations.md) |
| query | queryBlob: 501 |
| static website | switching it on in the properties of the service: 400 |
| change feed | \`$blobchangefeed\` does not exist (404 \`ContainerNotFound\`) and cannot be created (400 \`InvalidResourceName\`) |
| tiers of premium accounts | \`P4\` to \`P80\`: 400 \`InvalidBlobTier\`; for new and existing page blobs 400 \`AccessTierNotSupportedForBlobType\` |
| copying a part, setting properties or checking digests, in operations that do not offer it | \`x-ms-source-range\`, \`x-ms-blob-content-…\`, \`x-ms-blob-cache-control\`, \`x-ms-copy-source-blob-properties\`, \`x-ms-seal-blob\`, \`x-ms-source-content-…\` |
| comparing pages with a snapshot in another account | \`x-ms-previous-snapshot-url\` |
| deletes that depend on when the tier was set | \`x-ms-access-tier-if-modified-since\`, \`x-ms-access-tier-if-unmodified-since\` |

## Sources

Where the documentation of the service is silent, these sources decide. A recording shows how the service answered a test of an SDK.

| what | source |
|---|---|
| Break Lease returns whole seconds, rounded down | recording of \`BreakLeaseAsync\` in the .NET SDK: 14 s for a lease of 15 s that is broken at once |
| a stored policy without terms comes back without \`AccessPolicy\`, in all services | recordings of \`test_set_…_acl_with_empty_signed_identifier\` in the Python SDK (queues, tables) |
| Delete Blob deletes blocks that were never committed | issue 350 of azure-storage-node |
| Delete Blob with \`only\`, of a blob without snapshots, is 404 \`BlobNotFound\` | recording of \`test_delete_blobs_snapshot\` in the Python SDK |
| Undelete Blob of a blob that has only versions is 200 and changes nothing; \`x-ms-delete-type-permanent\` is \`false\` with soft delete | recording of \`undelete\` (\`blobclient.spec.ts\`) in the JavaScript SDK |
| snapshots and versions show no lease | recordings of \`test_get_blob_properties_with_snapshot\` in the Python SDK |
| a copy of a sealed blob is sealed unless \`x-ms-seal-blob\` is \`false\`; sealing renews the ETag | recordings of \`copy seal blob\` in the JavaScript SDK and of the same in the Python SDK |
| an incremental copy is answered as \`pending\` | recording of \`test_incremental_copy_blob\` in the Python SDK |
| \`x-ms-blob-content-md5\` is checked by Put Blob and Put Blob From URL; other operations store it unchecked, whatever its length | recording of \`setHTTPHeaders with all parameters set\` in the JavaScript SDK; \`test_upload_blob_content_md5\` of the Python SDK |
| \`MutuallyExclusiveQueryParameters\`; a version with \`x-ms-delete-snapshots\` is \`InvalidQueryParameterValue\` | recordings of \`blobversioning.spec.ts\` in the JavaScript SDK; of a snapshot by analogy |
| Append Block and Put Page From URL: unmet conditions on the source are \`CannotVerifyCopySource\`, 304 or 412 | recordings of \`test_append_block_from_url_with_source_if_…\` and the like in the Python SDK; Put Block and Put Range From URL by analogy |
| Put Blob From URL: unmet ETags are \`TargetConditionNotMet\` and \`SourceConditionNotMet\`, unmet dates \`ConditionNotMet\` and \`CannotVerifyCopySource\` | recordings of \`blockblobclient.spec.ts\` in the JavaScript SDK and of \`test_upload_blob_from_url_if_match_condition\` in the Python SDK |
| an unmet \`x-ms-source-if-tags\` of a copy is \`ConditionNotMet\` | \`test_async_copy_blob_with_if_tags\` of the Python SDK |
| a batch that is refused as a whole is 202 with one part, which has no \`Content-ID\` | recording of \`Batch_Limit\` in the .NET SDK; tests of the C++ SDK |
| the codes for keys; neither a new size nor properties need the key, clearing pages does | recordings of the tests with \`customerProvidedKey\` in the JavaScript SDK, and \`pageblobclient.spec.ts\` there; a source with a key: issue 18072 of azure-sdk-for-java. Without source: the code of a bad key, hash or connection |
| a part of a batch may leave the account out of its path | recordings of \`test_delete_blobs_…\` in the Python SDK |
`;
}
