import { Fault, refuse } from "../../base/fault.ts";
import type { Stamp } from "../../base/stamp.ts";
import { judgeReachBelow } from "../../rules/access.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import { judgeWriteByConditions } from "../../rules/conditions.ts";
import { judgeWriteByLease } from "../../rules/lease.ts";
import { prefetch } from "../../store/accelerated.ts";
import type { Transaction } from "../../store/store.ts";
import { readDeleteRetention } from "../shared/delete-retention.ts";
import { admitToBlobName, requireRemovable } from "./admit.ts";
import type { BlobContext, BlobUse } from "./context.ts";
import { requireDeleteBelow } from "./delete-below.ts";
import type { BlobPlace } from "./find-path.ts";
import { blobsBelow, isFilled, kindAt, kindOf } from "./flat-directory.ts";
import { needsToRemove, removeBlob, removeRevision } from "./history.ts";
import type { Blob } from "./records.ts";
import { findDeletedPath, readSnapshots } from "./revision-records.ts";
import { dropStagedBlocks } from "./staged-blocks.ts";

export interface DeletePath extends BlobUse {
  /** Whether a directory goes with everything in it; otherwise it must be empty. */
  readonly isRecursive: boolean;
  /** Whether an earlier request of the same delete has checked the path already. */
  readonly isContinued: boolean;
}

export interface DeletePathDone {
  /** Whether another request must go on: the directory and part of it are still there. */
  readonly hasMore: boolean;
  /** By which it can be restored; null without soft delete, and in flat containers. */
  readonly deletionId: Stamp | null;
}

/** Blobs and snapshots that one transaction deletes. */
const BODY_BLOBS_MAX = 256;
/** Transactions of one request. A flat directory with more takes several requests. */
const BODIES_MAX = 20;

export async function deletePath(context: BlobContext, asked: DeletePath): Promise<DeletePathDone> {
  if (asked.isRecursive) await requireDeleteBelow(context, asked);
  for (let body = 0; body < BODIES_MAX; body++) {
    const isFirst = body === 0 && !asked.isContinued;
    const done = await context.store.transact((tx) => {
      const { isDone, place } = deleteOnce(context, tx, asked, isFirst);
      return isDone ? { hasMore: false, deletionId: deletionIdAt(tx, place) } : null;
    });
    if (done !== null) return done;
  }
  return { hasMore: true, deletionId: null };
}

function deletionIdAt(tx: Transaction, place: BlobPlace): Stamp | null {
  if (place.way === null || readDeleteRetention(tx, place.account, "blob") === null) return null;
  return findDeletedPath(tx, place, null)?.stamp ?? null;
}

/** `isDone` is false if part of the path is left. */
function deleteOnce(
  context: BlobContext,
  tx: Transaction,
  asked: DeletePath,
  isFirst: boolean,
): { isDone: boolean; place: BlobPlace } {
  const { container, place, old } = admitToBlobName(tx, asked, BLOB_NEEDS.deletePath);
  const isFile = old !== null && kindOf(old) === "file";
  // Only directories of flat containers are deleted in parts. A client could say so of anything.
  const isChecked = isFirst || isFile || place.way !== null;
  if (isChecked && kindAt(tx, place, old) === null) throw new Fault("BlobNotFound");
  if (!isFile && asked.isRecursive) refuse(judgeReachBelow(asked.access));
  if (isChecked) {
    if (old === null) refuse(judgeWriteByConditions(null, asked.conditions));
    else requireRemovable(tx, asked, { container, blob: old });
  }
  let left = BODY_BLOBS_MAX;
  if (!isFile && !asked.isRecursive && isFilled(tx, place, old)) {
    throw new Fault("DirectoryNotEmpty");
  }
  // In a hierarchical container, what lies in a directory goes with the directory itself.
  if (!isFile && place.way === null) {
    const below = blobsBelow(tx, place.parent, place.name, left);
    prefetch(tx, () =>
      below.flatMap(({ name, blob }) => needsToRemove(context, { ...place, name }, blob)),
    );
    for (const { name, blob } of below) {
      refuse(judgeWriteByLease(blob.lease, null, tx.now(), "Blob"));
      left -= removeSome(context, tx, { ...place, name }, blob, left);
      if (left === 0) return { isDone: false, place };
    }
  }
  // The directory itself goes last: until then, its delete can be continued.
  const isDone = old === null || removeSome(context, tx, place, old, left) < left;
  return { isDone, place };
}

/** Removes snapshots, then the blob. Returns how many it removed, which may be all of `limit`. */
function removeSome(
  context: BlobContext,
  tx: Transaction,
  place: BlobPlace,
  blob: Blob,
  limit: number,
): number {
  const snapshots = readSnapshots(tx, place, limit);
  for (const { stamp, blob: snapshot } of snapshots) {
    removeRevision(context, tx, place, { kind: "snapshot", stamp }, snapshot);
  }
  if (snapshots.length === limit) return limit;
  dropStagedBlocks(tx, place);
  removeBlob(context, tx, place, blob);
  return snapshots.length + 1;
}
