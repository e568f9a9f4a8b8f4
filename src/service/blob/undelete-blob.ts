import { Fault } from "../../base/fault.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import type { Transaction, View } from "../../store/store.ts";
import { admitToPlace } from "./admit.ts";
import type { BlobAsked, BlobContext } from "./context.ts";
import type { BlobPlace } from "./find-path.ts";
import { restorePath, restoreRevision } from "./history.ts";
import { type Place, readBlob } from "./records.ts";
import {
  type DeletedBlob,
  findDeletedPath,
  hasRevisions,
  readDeletedCurrent,
  readDeletedRevisions,
} from "./revision-records.ts";

/** Revisions that one transaction restores. */
const BODY_REVISIONS_MAX = 256;

/**
 * Restores a deleted blob and its deleted snapshots and versions. If the name has a current blob,
 * that stays.
 */
export async function undeleteBlob(context: BlobContext, asked: BlobAsked): Promise<void> {
  let isFirst = true;
  for (;;) {
    const restored = await context.store.transact((tx) => undelete(context, tx, asked, isFirst));
    if (restored < BODY_REVISIONS_MAX) return;
    isFirst = false;
  }
}

/** Returns how many snapshots and versions it took from the deleted ones. */
function undelete(
  context: BlobContext,
  tx: Transaction,
  asked: BlobAsked,
  isFirst: boolean,
): number {
  const { place } = admitToPlace(tx, asked, BLOB_NEEDS.undeleteBlob);
  // The blob comes first, because snapshots need one.
  const current = restoreCurrent(context, tx, place);
  const revisions = readDeletedRevisions(tx, place, BODY_REVISIONS_MAX);
  for (const revision of revisions) restoreRevision(context, tx, place, revision);
  const isAlive = ({ untilMs }: { untilMs: number }) => untilMs > tx.now();
  const hasRestored = (current !== null && isAlive(current)) || revisions.some(isAlive);
  if (isFirst && !hasRestored && !isThere(tx, place)) throw new Fault("BlobNotFound");
  return revisions.length;
}

/** Restores the blob that was deleted last. Returns it, even if its retention has ended. */
function restoreCurrent(
  context: BlobContext,
  tx: Transaction,
  place: BlobPlace,
): DeletedBlob | null {
  if (place.way === null) {
    const deleted = readDeletedCurrent(tx, place);
    if (deleted !== null) restoreRevision(context, tx, place, deleted);
    return deleted;
  }
  const deleted = readBlob(tx, place) === null ? findDeletedPath(tx, place, null) : null;
  if (deleted !== null) restorePath(context, tx, place, deleted);
  return deleted;
}

/** With versioning, a deleted blob still has its versions, and nothing has to be restored. */
function isThere(view: View, place: Place): boolean {
  return readBlob(view, place) !== null || hasRevisions(view, place);
}
