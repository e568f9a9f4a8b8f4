import { isoOfStamp } from "../../../base/stamp.ts";
import { rfc1123 } from "../../../base/time-text.ts";
import type { BlobFound } from "../../../service/blob/get-blob-properties.ts";
import type { Blob, BlobCopy, BlobPath } from "../../../service/blob/records.ts";
import {
  type ShownPermissions,
  shownAccessControl,
} from "../../../service/blob/shown-access-control.ts";
import { propertyHeaders } from "../content-properties.ts";
import { keyHeaders } from "../customer-key.ts";
import { copyHeaders, leaseHeaders, metadataHeaders } from "../response-headers.ts";
import { writtenHeaders } from "./blob-revision.ts";
import { tierHeaders } from "./tier-headers.ts";

const CURRENT_VERSION = ["x-ms-is-current-version", "true"];

/** The headers of Get Blob and Get Blob Properties. */
export function blobHeaders({ blob, isCurrent, lease, tier }: BlobFound): string[] {
  return [
    ...writtenHeaders(blob),
    ...(isCurrent && blob.versionId !== 0n ? CURRENT_VERSION : []),
    ...propertyHeaders(blob.properties),
    "Accept-Ranges",
    "bytes",
    "x-ms-blob-type",
    blob.type,
    "x-ms-creation-time",
    rfc1123(blob.createdMs),
    "x-ms-server-encrypted",
    "true",
    ...storedKeyHeaders(blob),
    ...(lease === null ? [] : leaseHeaders(lease)),
    ...(tier === null ? [] : tierHeaders(tier)),
    ...(blob.tags.length === 0 ? [] : ["x-ms-tag-count", String(blob.tags.length)]),
    ...typeHeaders(blob),
    ...(blob.copy === null ? [] : blobCopyHeaders(blob.copy)),
    ...expiryHeaders(blob),
    ...(blob.path === null ? [] : pathHeaders(blob.path, blob)),
    ...metadataHeaders(blob.metadata),
  ];
}

/** The hash of the key that a blob is encrypted with. */
export function storedKeyHeaders({ encryption }: Blob): readonly string[] {
  return keyHeaders(encryption === null ? null : { sha256: encryption.keySha256 });
}

/** When a file goes by itself. */
export function expiryHeaders({ terms }: Blob): string[] {
  const expiresMs = terms?.expiresMs ?? null;
  return expiresMs === null ? [] : ["x-ms-expiry-time", rfc1123(expiresMs)];
}

/** The headers that only files and directories of hierarchical containers have. */
function pathHeaders({ directoryId, control }: BlobPath, { terms }: Blob): string[] {
  const found = shownAccessControl(control);
  const type = ["x-ms-resource-type", directoryId === 0n ? "file" : "directory"];
  const shown = [...type, ...accessControlHeaders(found), "x-ms-acl", found.acl];
  return [...shown, ...encryptionContextHeaders(terms)];
}

/** What a client noted about the encryption that it does itself. */
export function encryptionContextHeaders(terms: Blob["terms"]): string[] {
  const context = terms?.encryptionContext ?? "";
  return context === "" ? [] : ["x-ms-encryption-context", context];
}

export function accessControlHeaders(found: ShownPermissions): string[] {
  const { owner, group, permissions } = found;
  return ["x-ms-owner", owner, "x-ms-group", group, "x-ms-permissions", permissions];
}

/** Headers that only some types of blobs have. */
function typeHeaders(blob: Blob): string[] {
  switch (blob.type) {
    case "BlockBlob":
      return [];
    case "PageBlob":
      return ["x-ms-blob-sequence-number", String(blob.sequenceNumber)];
    case "AppendBlob": {
      const headers = ["x-ms-blob-committed-block-count", String(blob.appendedBlocks)];
      if (blob.isSealed) headers.push("x-ms-blob-sealed", "true");
      return headers;
    }
  }
}

function blobCopyHeaders(copy: BlobCopy): string[] {
  const headers = copyHeaders(copy);
  if (copy.isIncremental) {
    headers.push("x-ms-incremental-copy", "true");
    headers.push("x-ms-copy-destination-snapshot", isoOfStamp(copy.snapshot));
  }
  return headers;
}
