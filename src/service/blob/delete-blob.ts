import { Fault, refuse } from "../../base/fault.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import { judgeWriteByConditions, type Versioned } from "../../rules/conditions.ts";
import { judgeReadByLease, judgeWriteByLease } from "../../rules/lease.ts";
import type { Transaction } from "../../store/store.ts";
import { readDeleteRetention } from "../shared/delete-retention.ts";
import {
  admitToPlace,
  admitToReplaceable,
  admitToRevision,
  requireRemovable,
  requireTagConditions,
} from "./admit.ts";
import type { BlobContext, BlobRead, BlobRevision } from "./context.ts";
import { directoryOf, discardBlob, hasEntries, isDirectory } from "./directories.ts";
import { removeBlob, removeRevision } from "./history.ts";
import { type Blob, type Container, type Place, readStagedBlob } from "./records.ts";
import { deleteDeleted, findDeleted, findRevision, readSnapshots } from "./revision-records.ts";
import { dropStagedBlocks } from "./staged-blocks.ts";

/** `at` names the current blob, or one snapshot or version to delete alone. */
export interface DeleteBlob extends BlobRead {
  /** Whether to delete the blob with its snapshots, or only the snapshots. */
  readonly snapshots: "include" | "only" | null;
  /** Deletes a soft-deleted snapshot or version for good. Not for the current blob. */
  readonly permanent: boolean;
}

/** Snapshots that one transaction deletes. The last one also deletes the blob. */
const BODY_SNAPSHOTS_MAX = 256;

export interface DeleteBlobDone {
  /** Whether it is not soft-deleted. */
  readonly isGone: boolean;
}

export async function deleteBlob(context: BlobContext, asked: DeleteBlob): Promise<DeleteBlobDone> {
  for (let isFirst = true; ; isFirst = false) {
    const done = await context.store.transact((tx) => deleteOnce(context, tx, asked, isFirst));
    if (done !== null) return done;
  }
}

/** Null if snapshots are left that must be deleted first. */
function deleteOnce(
  context: BlobContext,
  tx: Transaction,
  asked: DeleteBlob,
  isFirst: boolean,
): DeleteBlobDone | null {
  const { revision } = asked.at;
  if (asked.permanent) return deleteForGood(context, tx, asked, revision);
  return revision === null
    ? deleteCurrent(context, tx, asked, isFirst)
    : deleteRevision(context, tx, asked, revision);
}

function deleteCurrent(
  context: BlobContext,
  tx: Transaction,
  asked: DeleteBlob,
  isFirst: boolean,
): DeleteBlobDone | null {
  const admitted = admitToReplaceable(tx, asked, BLOB_NEEDS.deleteBlob);
  const { container, place, old: blob, found } = admitted;
  if (found === null) return deleteUncommitted(tx, asked, container, place);
  if (blob !== null) requireRemovable(tx, asked, { container, blob });
  else requireUnleased(tx, asked, container, found);
  if (blob !== null && isDirectory(blob)) requireEmptyDirectory(tx, asked, blob);
  const limit = asked.snapshots === null ? 1 : BODY_SNAPSHOTS_MAX;
  const snapshots = readSnapshots(tx, place, limit);
  if (asked.snapshots === null && snapshots.length > 0) throw new Fault("SnapshotsPresent");
  // The service looks for snapshots only, and finds none.
  const findsNone = asked.snapshots === "only" && isFirst && snapshots.length === 0;
  if (findsNone) throw new Fault("BlobNotFound");
  context.contents.prefetchDrops(tx, () => snapshots.map((snapshot) => snapshot.blob.content));
  let isGone = true;
  for (const { stamp, blob: snapshot } of snapshots) {
    isGone = removeRevision(context, tx, place, { kind: "snapshot", stamp }, snapshot);
  }
  if (snapshots.length === BODY_SNAPSHOTS_MAX) return null;
  if (asked.snapshots === "only") return { isGone };
  dropStagedBlocks(tx, place);
  return { isGone: removeBlob(context, tx, place, blob) };
}

/** A directory has no snapshots, and Data Lake clients alone delete what lies in one. */
function requireEmptyDirectory(tx: Transaction, { snapshots }: DeleteBlob, blob: Blob): void {
  if (snapshots !== null) throw new Fault("OperationNotSupportedOnDirectory");
  if (hasEntries(tx, directoryOf(blob))) throw new Fault("DirectoryIsNotEmpty");
}

/** Deletes the uncommitted blocks of a name that has no blob yet. */
function deleteUncommitted(
  tx: Transaction,
  asked: DeleteBlob,
  container: Container,
  place: Place,
): DeleteBlobDone {
  const isStaged = readStagedBlob(tx, place) !== null;
  if (!isStaged || asked.snapshots === "only") throw new Fault("BlobNotFound");
  requireUnleased(tx, asked, container, null);
  dropStagedBlocks(tx, place);
  return { isGone: true };
}

/** Checks a name without a blob, or whose blob is damaged: it has no tags and no lease. */
function requireUnleased(
  tx: Transaction,
  asked: DeleteBlob,
  container: Container,
  found: Versioned | null,
): void {
  refuse(judgeWriteByConditions(found, asked.conditions));
  requireTagConditions(tx, asked, container, null);
  refuse(judgeWriteByLease(null, asked.leaseId, tx.now(), "Blob"));
}

function deleteRevision(
  context: BlobContext,
  tx: Transaction,
  asked: DeleteBlob,
  revision: BlobRevision,
): DeleteBlobDone {
  const isVersion = revision.kind === "version";
  const need = isVersion ? BLOB_NEEDS.deleteBlobVersion : BLOB_NEEDS.deleteBlob;
  const { container, place, blob, isCurrent } = admitToRevision(tx, asked, need);
  if (isCurrent) throw new Fault("OperationNotAllowedOnRootBlob");
  refuse(judgeWriteByConditions(blob, asked.conditions));
  requireTagConditions(tx, asked, container, blob);
  refuse(judgeReadByLease(blob.lease, asked.leaseId, tx.now(), "Blob"));
  return { isGone: removeRevision(context, tx, place, revision, blob) };
}

function deleteForGood(
  context: BlobContext,
  tx: Transaction,
  asked: DeleteBlob,
  revision: BlobRevision | null,
): DeleteBlobDone {
  const { container, place } = admitToPlace(tx, asked, BLOB_NEEDS.deleteBlobPermanently);
  if (!readDeleteRetention(tx, place.account, "blob")?.allowsPermanentDelete) {
    throw notForGood("Set AllowPermanentDelete in the DeleteRetentionPolicy first.");
  }
  if (revision === null) throw notForGood("Name a snapshot or a version.");
  const deleted = findDeleted(tx, place, revision);
  if (deleted === null) throw notDeleted(tx, place, revision);
  refuse(judgeWriteByConditions(deleted.blob, asked.conditions));
  requireTagConditions(tx, asked, container, deleted.blob);
  deleteDeleted(tx, place, deleted);
  discardBlob(context.contents, tx, deleted.blob);
  return { isGone: true };
}

function notDeleted(tx: Transaction, place: Place, revision: BlobRevision): Fault {
  const found = findRevision(tx, place, revision);
  if (found === null) return new Fault("BlobNotFound");
  return new Fault(
    found.isCurrent ? "OperationNotAllowedOnRootBlob" : "BlobSnapshotNotSoftDeleted",
  );
}

function notForGood(reason: string): Fault {
  return new Fault("PermanentDeleteNotAllowed", { Reason: reason });
}
