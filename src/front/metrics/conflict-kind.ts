import type { Outcome } from "../outcome.ts";

/**
 * How two clients got into each other's way:
 * - `condition`: an If-Match or another condition was not met, mostly since somebody was faster.
 * - `not_modified`: a conditional read found nothing new. Caches cause these on purpose.
 * - `lease`: the id of a lease was missing or wrong, or somebody else has the lease.
 * - `sharing_violation`: an open excludes the access.
 * - `delete_pending`: the file is about to be deleted.
 * - `lock`: a byte range is locked.
 * - `conflict`: any other 409, such as a name that is taken.
 */
export const CONFLICT_KINDS = [
  "condition",
  "not_modified",
  "lease",
  "sharing_violation",
  "delete_pending",
  "lock",
  "conflict",
] as const;

export type ConflictKind = (typeof CONFLICT_KINDS)[number];

/** The codes of REST and of SMB that have a kind of their own, whatever the status is. */
const KIND_OF_CODE: ReadonlyMap<string, ConflictKind> = new Map([
  ["InfiniteLeaseDurationRequired", "lease"],
  ["SharingViolation", "sharing_violation"],
  ["STATUS_SHARING_VIOLATION", "sharing_violation"],
  ["SMBDeletePending", "delete_pending"],
  ["STATUS_DELETE_PENDING", "delete_pending"],
  ["FileLockConflict", "lock"],
  ["STATUS_FILE_LOCK_CONFLICT", "lock"],
  ["STATUS_LOCK_NOT_GRANTED", "lock"],
  ["STATUS_OBJECT_NAME_COLLISION", "conflict"],
]);

/** Null if the operation met no conflict. */
export function conflictKind({
  status,
  code,
}: Pick<Outcome, "status" | "code">): ConflictKind | null {
  if (code !== null) {
    const kind = KIND_OF_CODE.get(code);
    if (kind !== undefined) return kind;
  }
  if (status === 304) return "not_modified";
  if (status !== 409 && status !== 412) return null;
  if (code?.startsWith("Lease")) return "lease";
  return status === 412 ? "condition" : "conflict";
}
