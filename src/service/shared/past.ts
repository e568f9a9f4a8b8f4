import type { Instant } from "../../base/clock.ts";
import { refuse } from "../../base/fault.ts";
import type { Stamp } from "../../base/stamp.ts";
import { type Access, judgeByAccess } from "../../rules/access.ts";
import type { Versioned } from "../../rules/conditions.ts";
import { PAST_NEED } from "../../rules/past-need.ts";
import { endOfRetention, type Retained } from "../../rules/retention.ts";
import type { Transaction, View } from "../../store/store.ts";
import type { StoredCopy } from "./copy-field.ts";

/** What an import knows of the version that it writes. Null fields become what a write makes them. */
export interface VersionPast {
  readonly etag: Stamp | null;
  readonly modifiedMs: Instant | null;
}

/** Of a share also when its tier was set. */
export interface SharePast extends VersionPast {
  readonly tierChangedMs: Instant | null;
}

/** Of a file also the copy that made it. */
export interface FilePast extends VersionPast {
  readonly copy: StoredCopy | null;
}

/** Only a key of the account permits to give a past, or to read what is deleted. */
export function requireOwner(view: View, { access }: { readonly access: Access }): void {
  refuse(judgeByAccess(access, PAST_NEED, null, view.now()));
}

/** The store will give out stamps of the future itself: those of a fast clock are replaced. */
export function knownStamp(tx: Transaction, stamp: Stamp | null): Stamp | null {
  return stamp !== null && stamp < tx.stamp() ? stamp : null;
}

/** The version that a write has made, or that of its past. */
export function versionAsOf<T extends Versioned>(
  tx: Transaction,
  asked: { readonly access: Access; readonly past?: VersionPast | null },
  version: T,
): T {
  const { past = null } = asked;
  if (past === null) return version;
  requireOwner(tx, asked);
  return {
    ...version,
    etag: knownStamp(tx, past.etag) ?? version.etag,
    modifiedMs: past.modifiedMs ?? version.modifiedMs,
  };
}

/** What an import knows of the deletion of a container or share, which it has put under any name. */
export interface DeletionPast {
  /** The name that it had; null for the one it has. */
  readonly name: string | null;
  readonly id: Stamp | null;
  readonly retained: Retained | null;
}

export interface SetAside extends Retained {
  readonly name: string;
  /** Tells it from others of this name that were deleted. */
  readonly version: Stamp;
}

/** How a container or share is deleted now, or was; null if it cannot be restored. */
export function deletionAsOf(
  tx: Transaction,
  asked: { readonly access: Access; readonly past?: DeletionPast | null },
  ownName: string,
  retentionDays: number | null,
): SetAside | null {
  const { past = null } = asked;
  if (past === null) {
    if (retentionDays === null) return null;
    const untilMs = endOfRetention(tx.now(), retentionDays);
    return { name: ownName, version: tx.stamp(), deletedMs: tx.now(), untilMs };
  }
  requireOwner(tx, asked);
  const { name, id, retained } = past;
  if (retained === null || retained.untilMs <= tx.now()) return null;
  return { name: name ?? ownName, version: knownStamp(tx, id) ?? tx.stamp(), ...retained };
}
