import type { Instant } from "../../base/clock.ts";
import { etagOf, type Stamp } from "../../base/stamp.ts";
import { rfc1123 } from "../../base/time-text.ts";
import type { LeaseStatus } from "../../rules/lease.ts";

/** Headers that several services share, from values to text: names and values in turn. */

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
