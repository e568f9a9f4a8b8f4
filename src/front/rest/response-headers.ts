import type { Bytes } from "../../base/bytes.ts";
import type { Instant } from "../../base/clock.ts";
import { etagOf, type Stamp } from "../../base/stamp.ts";
import { rfc1123 } from "../../base/time-text.ts";
import type { LeaseStatus } from "../../rules/lease.ts";
import type { StoredCopy } from "../../service/shared/copy-field.ts";

/** Formats response headers that several services share, as alternating names and values. */

export const XML_CONTENT = ["Content-Type", "application/xml"];

export function versionHeaders(found: { etag: Stamp; modifiedMs: Instant }): string[] {
  return ["ETag", `"${etagOf(found.etag)}"`, "Last-Modified", rfc1123(found.modifiedMs)];
}

export function metadataHeaders(metadata: readonly (readonly [string, string])[]): string[] {
  return metadata.flatMap(([name, value]) => [`x-ms-meta-${name}`, value]);
}

export function leaseHeaders(lease: LeaseStatus): string[] {
  const headers = ["x-ms-lease-status", lease.status, "x-ms-lease-state", lease.state];
  if (lease.duration !== null) headers.push("x-ms-lease-duration", lease.duration);
  return headers;
}

export function digestHeaders(digests: { md5: Bytes | null; crc64: Bytes | null }): string[] {
  const headers: string[] = [];
  if (digests.md5 !== null) headers.push("Content-MD5", digests.md5.toString("base64"));
  if (digests.crc64 !== null) headers.push("x-ms-content-crc64", digests.crc64.toString("base64"));
  return headers;
}

/** Formats the headers about the last copy to a blob or file. */
export function copyHeaders(copy: StoredCopy): string[] {
  const { id, source, status, bytesDone, bytesTotal, completedMs, description } = copy;
  const headers = ["x-ms-copy-id", id, "x-ms-copy-source", source, "x-ms-copy-status", status];
  headers.push("x-ms-copy-progress", `${bytesDone}/${bytesTotal}`);
  if (completedMs !== null) headers.push("x-ms-copy-completion-time", rfc1123(completedMs));
  if (description !== "") headers.push("x-ms-copy-status-description", description);
  return headers;
}
