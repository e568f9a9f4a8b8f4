import { rfc1123 } from "../../../base/time-text.ts";
import type { BlobFound } from "../../../service/blob/get-blob-properties.ts";
import type { Blob } from "../../../service/blob/records.ts";
import { leaseHeaders, metadataHeaders, versionHeaders } from "../response-headers.ts";
import { propertyHeaders } from "./properties.ts";

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

/** Puts the headers that a SAS prescribes in the place of the blob's own. */
export function withOverrides(headers: string[], overrides: readonly string[]): string[] {
  if (overrides.length === 0) return headers;
  const replaced = new Set<string>();
  for (let at = 0; at < overrides.length; at += 2) {
    replaced.add((overrides[at] as string).toLowerCase());
  }
  const kept: string[] = [];
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] as string;
    if (!replaced.has(name.toLowerCase())) kept.push(name, headers[at + 1] as string);
  }
  return [...kept, ...overrides];
}
