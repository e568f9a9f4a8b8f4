import { Fault, refuse } from "../../base/fault.ts";
import { judgeByAccess } from "../../rules/access.ts";
import { FILE_NEEDS } from "../../rules/file-needs.ts";
import { judgeWriteByLease, leaseIsLocked } from "../../rules/lease.ts";
import type { Transaction } from "../../store/store.ts";
import { type DeletionPast, deletionAsOf } from "../shared/past.ts";
import { admitToShare, requireSnapshot } from "./admit.ts";
import { type ShareContext, type ShareUse, settingsOf } from "./context.ts";
import {
  abandonShare,
  deleteShare as deleteRecord,
  deleteSnapshot,
  readDeletedShare,
  readShare,
  type Share,
  snapshotsOf,
  writeDeletedShare,
} from "./records.ts";
import { isBeingDeleted, noteDeletion } from "./share-deletions.ts";

export interface DeleteShare extends ShareUse {
  /** Whether snapshots are deleted with the share, even leased ones. */
  readonly snapshots: "refuse" | "include" | "include-leased";
  /** What an import knows of the deletion of a share. */
  readonly past?: DeletionPast | null;
}

/**
 * Deletes a share, with its snapshots if the request says so, or one snapshot. The name is free at
 * once, however much the share holds; the sweeper removes the rest as soon as it can no longer be
 * restored. Deleting a share again that has just been deleted succeeds and changes nothing.
 */
export async function deleteShare(context: ShareContext, asked: DeleteShare): Promise<void> {
  const { shareRetentionDays } = settingsOf(context, asked.at.account);
  const { snapshot } = asked.at;
  await context.store.transact((tx) => {
    if (isDeletedAgain(tx, asked)) return;
    const share = admitToShare(tx, asked, FILE_NEEDS.deleteShare);
    const named = snapshot === null ? null : requireSnapshot(tx, share, snapshot);
    const { lease } = named?.snapshot ?? share;
    refuse(judgeWriteByLease(lease, asked.leaseId, tx.now(), "Container"));
    if (named !== null) {
      deleteSnapshot(tx, asked.at, share, named);
      return;
    }
    requireSnapshotsDeletable(tx, share, asked.snapshots);
    noteDeletion(tx, asked.at);
    deleteRecord(tx, asked.at);
    const deletion = deletionAsOf(tx, asked, asked.at.share, shareRetentionDays);
    if (deletion === null) {
      abandonShare(tx, share.id);
      return;
    }
    const { name, version, deletedMs, untilMs } = deletion;
    const was = { ...asked.at, share: name };
    if (readDeletedShare(tx, was, version) !== null) throw new Fault("ShareAlreadyExists");
    const value = { share: { ...share, lease: null }, deletedMs, untilMs };
    writeDeletedShare(tx, was, version, value);
  });
}

function isDeletedAgain(tx: Transaction, { at, access }: DeleteShare): boolean {
  if (at.snapshot !== null || readShare(tx, at) !== null || !isBeingDeleted(tx, at)) return false;
  refuse(judgeByAccess(access, FILE_NEEDS.deleteShare, null, tx.now()));
  return true;
}

function requireSnapshotsDeletable(
  tx: Transaction,
  share: Share,
  mode: DeleteShare["snapshots"],
): void {
  if (mode === "include-leased" || share.newestSnapshot === 0n) return;
  if (mode === "refuse") throw new Fault("ShareHasSnapshots");
  for (const { snapshot } of snapshotsOf(tx, share.id)) {
    if (leaseIsLocked(snapshot.lease, tx.now())) throw new Fault("DeleteShareWhenSnapshotLeased");
  }
}
