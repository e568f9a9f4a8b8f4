import { rfc1123 } from "../../../base/time-text.ts";
import type { BlobFound } from "../../../service/blob/get-blob-properties.ts";
import type { Blob } from "../../../service/blob/records.ts";
import { propertyHeaders } from "../content-properties.ts";
import { leaseHeaders, metadataHeaders, versionHeaders } from "../response-headers.ts";

/** What every answer about a whole blob says, whether or not its bytes come with it. */
export function blobHeaders({ blob, lease }: BlobFound): string[] {
  return [
    ...versionHeaders(blob),
    ...propertyHeaders(blob.properties),
    "Accept-Ranges",
    "bytes",
    "x-ms-blob-type",
    blob.type,
    "x-ms-creation-time",
    rfc1123(blob.createdMs),
    "x-ms-server-encrypted",
    "true",
    ...leaseHeaders(lease),
    ...typeHeaders(blob),
    ...metadataHeaders(blob.metadata),
  ];
}

/** What only some types of blobs have. */
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
