import { Fault } from "../../base/fault.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import type { PathKind } from "../../rules/rename.ts";
import type { Transaction } from "../../store/store.ts";
import { admitToBlob, admitToPlace } from "./admit.ts";
import type { BlobAsked, BlobContext } from "./context.ts";
import { kindOf } from "./flat-directory.ts";
import { restorePath } from "./history.ts";
import { readBlob } from "./records.ts";
import { findDeletedPath } from "./revision-records.ts";
import { undeleteBlob } from "./undelete-blob.ts";

/** Restores a soft-deleted file or directory. */
export interface UndeletePath extends BlobAsked {
  /** Which of the deleted paths of this name; null for the last one. */
  readonly deletionId: bigint | null;
}

export interface UndeletePathDone {
  readonly kind: PathKind;
}

export async function undeletePath(
  context: BlobContext,
  asked: UndeletePath,
): Promise<UndeletePathDone> {
  const kind = await context.store.transact((tx) => undeleteInTree(context, tx, asked));
  if (kind !== null) return { kind };
  await undeleteBlob(context, asked);
  return context.store.read((view) => ({
    kind: kindOf(admitToBlob(view, asked, BLOB_NEEDS.undeletePath).blob),
  }));
}

/** Brings a directory back with everything in it. Null in a flat container. */
function undeleteInTree(
  context: BlobContext,
  tx: Transaction,
  asked: UndeletePath,
): PathKind | null {
  const { place } = admitToPlace(tx, asked, BLOB_NEEDS.undeletePath);
  if (place.way === null) return null;
  const deleted = findDeletedPath(tx, place, asked.deletionId);
  if (deleted === null) throw new Fault("BlobNotFound");
  if (readBlob(tx, place) !== null) throw new Fault("BlobAlreadyExists");
  restorePath(context, tx, place, deleted);
  return kindOf(deleted.blob);
}
