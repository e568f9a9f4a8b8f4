import { isoOfStamp } from "../../../base/stamp.ts";
import { rfc1123 } from "../../../base/time-text.ts";
import type { BlobFound } from "../../../service/blob/get-blob-properties.ts";
import type { Blob, BlobCopy } from "../../../service/blob/records.ts";
import { propertyHeaders } from "../content-properties.ts";
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
    ...(lease === null ? [] : leaseHeaders(lease)),
    ...(tier === null ? [] : tierHeaders(tier)),
    ...(blob.tags.length === 0 ? [] : ["x-ms-tag-count", String(blob.tags.length)]),
    ...typeHeaders(blob),
    ...(blob.copy === null ? [] : blobCopyHeaders(blob.copy)),
    ...metadataHeaders(blob.metadata),
  ];
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
