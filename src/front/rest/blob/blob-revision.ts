import { Fault } from "../../../base/fault.ts";
import { isoOfStamp, type Stamp, stampOfIso } from "../../../base/stamp.ts";
import { type BlobRevision, NO_STAMP } from "../../../service/blob/context.ts";
import type { BlobWritten } from "../../../service/blob/version.ts";
import type { Query } from "../http/exchange.ts";
import { invalidQuery } from "../request-query.ts";
import { versionHeaders } from "../response-headers.ts";

/** Snapshots and versions in queries and headers. */

/** The revision that a query asks for; null for the current blob. */
export function revisionOf(query: Query): BlobRevision | null {
  const snapshot = stampFromQuery(query, "snapshot");
  const version = stampFromQuery(query, "versionid");
  if (snapshot !== null && version !== null) throw new Fault("MutuallyExclusiveQueryParameters");
  const kind = version === null ? "snapshot" : "version";
  const stamp = snapshot ?? version;
  if (isDeletedAsked(query)) return { kind, stamp: stamp ?? NO_STAMP, isDeleted: true };
  return stamp === null ? null : { kind, stamp };
}

/** Whether an export reads a soft-deleted revision. */
function isDeletedAsked(query: Query): boolean {
  const value = query.get(DELETED);
  if (value === undefined || value === "true") return value === "true";
  throw invalidQuery(DELETED, value, "It must be true, or left out.");
}

const DELETED = "lazuli-deleted";

/** The id of a snapshot or of a version; null if it is not sent. */
export function stampFromQuery(query: Query, name: string): Stamp | null {
  const value = query.get(name);
  if (value === undefined) return null;
  const stamp = stampOfIso(value);
  if (stamp !== null) return stamp;
  throw invalidQuery(name, value, "It must look like 2026-11-16T00:17:23.1234567Z.");
}

/** For operations that only the current blob permits. */
export function requireCurrentRevision(query: Query): void {
  for (const [name, subject] of REVISION_PARAMETERS) {
    const value = query.get(name);
    if (value === undefined) continue;
    const reason = `This operation is only allowed on the root blob. ${subject} should not be provided.`;
    throw invalidQuery(name, value, reason);
  }
}

const REVISION_PARAMETERS = [
  ["snapshot", "Snapshot"],
  ["versionid", "Version id"],
] as const;

/** ETag, time and version id of the blob that a write made. */
export function writtenHeaders(written: BlobWritten): string[] {
  const headers = versionHeaders(written);
  if (written.versionId !== 0n) headers.push("x-ms-version-id", isoOfStamp(written.versionId));
  return headers;
}
