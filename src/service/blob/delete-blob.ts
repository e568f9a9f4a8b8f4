import { Fault, refuse } from "../../base/fault.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import { judgeWriteByConditions } from "../../rules/conditions.ts";
import { judgeReadByLease, judgeWriteByLease } from "../../rules/lease.ts";
import type { Transaction } from "../../store/store.ts";
import { readDeleteRetention } from "../shared/delete-retention.ts";
import {
  admitToBlobName,
  admitToContainer,
  admitToRevision,
  requireRemovable,
  requireTagConditions,
} from "./admit.ts";
import type { BlobContext, BlobRead, BlobRevision, BlobRevisionAddress } from "./context.ts";
import { removeBlob, removeRevision } from "./history.ts";
import { type Container, readStagedBlob } from "./records.ts";
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
  const { at } = asked;
  const { container, old: blob } = admitToBlobName(tx, asked, BLOB_NEEDS.deleteBlob);
  if (blob === null) return deleteUncommitted(tx, asked, container);
  requireRemovable(tx, asked, { container, blob });
  const place = { at, container };
  const limit = asked.snapshots === null ? 1 : BODY_SNAPSHOTS_MAX;
  const snapshots = readSnapshots(tx, container, at.blob, limit);
  if (asked.snapshots === null && snapshots.length > 0) throw new Fault("SnapshotsPresent");
  // The service looks for snapshots only, and finds none.
  const findsNone = asked.snapshots === "only" && isFirst && snapshots.length === 0;
  if (findsNone) throw new Fault("BlobNotFound");
  let isGone = true;
  for (const { stamp, blob: snapshot } of snapshots) {
    isGone = removeRevision(context, tx, place, { kind: "snapshot", stamp }, snapshot);
  }
  if (snapshots.length === BODY_SNAPSHOTS_MAX) return null;
  if (asked.snapshots === "only") return { isGone };
  dropStagedBlocks(tx, container, at.blob);
  return { isGone: removeBlob(context, tx, place, blob) };
}

/** Deletes the uncommitted blocks of a name that has no blob yet. */
function deleteUncommitted(
  tx: Transaction,
  asked: DeleteBlob,
  container: Container,
): DeleteBlobDone {
  const isStaged = readStagedBlob(tx, container, asked.at.blob) !== null;
  if (!isStaged || asked.snapshots === "only") throw new Fault("BlobNotFound");
  refuse(judgeWriteByConditions(null, asked.conditions));
  requireTagConditions(tx, asked, container, null);
  refuse(judgeWriteByLease(null, asked.leaseId, tx.now(), "Blob"));
  dropStagedBlocks(tx, container, asked.at.blob);
  return { isGone: true };
}

function deleteRevision(
  context: BlobContext,
  tx: Transaction,
  asked: DeleteBlob,
  revision: BlobRevision,
): DeleteBlobDone {
  const { at } = asked;
  const isVersion = revision.kind === "version";
  const need = isVersion ? BLOB_NEEDS.deleteBlobVersion : BLOB_NEEDS.deleteBlob;
  const { container, blob, isCurrent } = admitToRevision(tx, asked, need);
  if (isCurrent) throw new Fault("OperationNotAllowedOnRootBlob");
  refuse(judgeWriteByConditions(blob, asked.conditions));
  requireTagConditions(tx, asked, container, blob);
  refuse(judgeReadByLease(blob.lease, asked.leaseId, tx.now(), "Blob"));
  return { isGone: removeRevision(context, tx, { at, container }, revision, blob) };
}

function deleteForGood(
  context: BlobContext,
  tx: Transaction,
  asked: DeleteBlob,
  revision: BlobRevision | null,
): DeleteBlobDone {
  const { at } = asked;
  const container = admitToContainer(tx, asked, BLOB_NEEDS.deleteBlobPermanently);
  if (!readDeleteRetention(tx, at.account, "blob")?.allowsPermanentDelete) {
    throw notForGood("Set AllowPermanentDelete in the DeleteRetentionPolicy first.");
  }
  if (revision === null) throw notForGood("Name a snapshot or a version.");
  const deleted = findDeleted(tx, container, at.blob, revision);
  if (deleted === null) throw notDeleted(tx, container, at);
  refuse(judgeWriteByConditions(deleted.blob, asked.conditions));
  requireTagConditions(tx, asked, container, deleted.blob);
  deleteDeleted(tx, container, at.blob, deleted);
  context.contents.drop(tx, deleted.blob.content);
  return { isGone: true };
}

function notDeleted(tx: Transaction, container: Container, at: BlobRevisionAddress): Fault {
  const found = findRevision(tx, container, at);
  if (found === null) return new Fault("BlobNotFound");
  return new Fault(
    found.isCurrent ? "OperationNotAllowedOnRootBlob" : "BlobSnapshotNotSoftDeleted",
  );
}

function notForGood(reason: string): Fault {
  return new Fault("PermanentDeleteNotAllowed", { Reason: reason });
}
