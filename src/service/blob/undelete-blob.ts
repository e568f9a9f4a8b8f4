import { Fault, refuse } from "../../base/fault.ts";
import { judgeBlobName } from "../../rules/blob-name.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import type { Transaction, View } from "../../store/store.ts";
import { admitToContainer } from "./admit.ts";
import type { BlobAsked, BlobContext } from "./context.ts";
import { restoreRevision } from "./history.ts";
import { type Container, readBlob } from "./records.ts";
import { hasRevisions, readDeletedCurrent, readDeletedRevisions } from "./revision-records.ts";

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
  const { at } = asked;
  const container = admitToContainer(tx, asked, BLOB_NEEDS.undeleteBlob);
  refuse(judgeBlobName(at.blob));
  const place = { at, container };
  // The blob comes first, because snapshots need one.
  const current = readDeletedCurrent(tx, container, at.blob);
  if (current !== null) restoreRevision(context, tx, place, current);
  const revisions = readDeletedRevisions(tx, container, at.blob, BODY_REVISIONS_MAX);
  for (const revision of revisions) restoreRevision(context, tx, place, revision);
  const isAlive = ({ untilMs }: { untilMs: number }) => untilMs > tx.now();
  const hasRestored = (current !== null && isAlive(current)) || revisions.some(isAlive);
  if (isFirst && !hasRestored && !isThere(tx, container, at.blob)) throw new Fault("BlobNotFound");
  return revisions.length;
}

/** With versioning, a deleted blob still has its versions, and nothing has to be restored. */
function isThere(view: View, container: Container, name: string): boolean {
  return readBlob(view, container, name) !== null || hasRevisions(view, container, name);
}
