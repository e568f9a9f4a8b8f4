import { Fault } from "../../base/fault.ts";
import { SHARE_SNAPSHOTS_MAX } from "../../base/limits.ts";
import type { Stamp } from "../../base/stamp.ts";
import type { Versioned } from "../../rules/conditions.ts";
import { FILE_NEEDS } from "../../rules/file-needs.ts";
import { admitToShare } from "./admit.ts";
import type { FileContext, ShareAsked } from "./context.ts";
import { type Metadata, snapshotsOf, writeShare, writeSnapshot } from "./records.ts";

export interface SnapshotShare extends ShareAsked {
  /** Null for the share's metadata. */
  readonly metadata: Metadata | null;
}

export interface SnapshotShareDone extends Versioned {
  /** The snapshot's name. */
  readonly snapshot: Stamp;
}

/**
 * Takes a snapshot: two records, however much the share holds. Later changes preserve what it
 * shows.
 */
export async function snapshotShare(
  context: FileContext,
  asked: SnapshotShare,
): Promise<SnapshotShareDone> {
  return context.store.transact((tx) => {
    const share = admitToShare(tx, asked, FILE_NEEDS.snapshotShare);
    if (snapshotsOf(tx, share.id).length >= SHARE_SNAPSHOTS_MAX) {
      throw new Fault("ShareSnapshotCountExceeded");
    }
    const snapshot = tx.stamp();
    const { etag, modifiedMs, quotaGib } = share;
    const metadata = asked.metadata ?? share.metadata;
    writeSnapshot(tx, share, snapshot, { etag, modifiedMs, lease: null, metadata, quotaGib });
    writeShare(tx, asked.at, { ...share, newestSnapshot: snapshot });
    return { snapshot, etag, modifiedMs };
  });
}
