import { Fault } from "../../base/fault.ts";
import { SHARE_SNAPSHOTS_MAX } from "../../base/limits.ts";
import type { Stamp } from "../../base/stamp.ts";
import type { Versioned } from "../../rules/conditions.ts";
import { FILE_NEEDS } from "../../rules/file-needs.ts";
import { knownStamp, type VersionPast, versionAsOf } from "../shared/past.ts";
import { admitToShare } from "./admit.ts";
import type { FileContext, ShareAsked } from "./context.ts";
import { type Metadata, snapshotsOf, writeShare, writeSnapshot } from "./records.ts";

export interface SnapshotShare extends ShareAsked {
  /** Null for the share's metadata. */
  readonly metadata: Metadata | null;
  /** What an import knows of it. */
  readonly past?: SnapshotPast | null;
}

export interface SnapshotPast extends VersionPast {
  /** Its name. */
  readonly id: Stamp | null;
  readonly quotaGib: number | null;
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
    const before = snapshotsOf(tx, share.id);
    if (before.length >= SHARE_SNAPSHOTS_MAX) throw new Fault("ShareSnapshotCountExceeded");
    const { etag, modifiedMs } = versionAsOf(tx, asked, share);
    const { past = null } = asked;
    // Names are in the order of snapshots: one from before the last is replaced by a new one.
    const known = knownStamp(tx, past?.id ?? null) ?? 0n;
    const name = known > (before.at(-1)?.name ?? 0n) ? known : 0n;
    const stamp = tx.stamp();
    const quotaGib = past?.quotaGib ?? share.quotaGib;
    const metadata = asked.metadata ?? share.metadata;
    writeSnapshot(tx, share, stamp, { etag, modifiedMs, lease: null, metadata, quotaGib, name });
    writeShare(tx, asked.at, { ...share, newestSnapshot: stamp });
    return { snapshot: name === 0n ? stamp : name, etag, modifiedMs };
  });
}
