import { rfc1123 } from "../../../base/time-text.ts";
import type { BlobFound } from "../../../service/blob/get-blob-properties.ts";
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
    ...metadataHeaders(blob.metadata),
  ];
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
