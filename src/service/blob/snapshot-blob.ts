import { refuse } from "../../base/fault.ts";
import type { Stamp } from "../../base/stamp.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import { judgeWriteByConditions } from "../../rules/conditions.ts";
import { judgeByPendingCopy, judgeOnIncrementalCopy } from "../../rules/copy.ts";
import { judgeReadByLease } from "../../rules/lease.ts";
import { judgeByTier } from "../../rules/tier.ts";
import type { Transaction } from "../../store/store.ts";
import { admitToBlob, requireTagConditions } from "./admit.ts";
import type { BlobContext, BlobUse } from "./context.ts";
import { encryptedFields, requireKey } from "./encryption.ts";
import { requireFile } from "./hierarchical-limits.ts";
import { reviseBlob } from "./history.ts";
import type { Blob, Metadata } from "./records.ts";
import { writeRevision } from "./revision-records.ts";
import { type BlobWritten, isVersioned, nextVersion } from "./version.ts";

export interface SnapshotBlob extends BlobUse {
  /** The snapshot's metadata; null to copy the blob's. */
  readonly metadata: Metadata | null;
}

export interface SnapshotBlobDone extends BlobWritten {
  /** Identifies the snapshot. */
  readonly snapshot: Stamp;
}

/** The snapshot shares the blob's bytes; later writes to the blob copy them first. */
export async function snapshotBlob(
  context: BlobContext,
  asked: SnapshotBlob,
): Promise<SnapshotBlobDone> {
  return context.store.transact((tx) => {
    const { container, place, blob } = admitToBlob(tx, asked, BLOB_NEEDS.snapshotBlob);
    requireFile(blob);
    requireKey(blob, asked);
    refuse(judgeWriteByConditions(blob, asked.conditions));
    requireTagConditions(tx, asked, container, blob);
    // A leased blob can be snapshotted without the lease id.
    refuse(judgeReadByLease(blob.lease, asked.leaseId, tx.now(), "Blob"));
    refuse(judgeByPendingCopy(blob.copy));
    refuse(judgeOnIncrementalCopy(blob.copy));
    refuse(judgeByTier(blob.tier, tx.now()));
    const snapshot = snapshotOf(tx, blob, asked);
    const stamp = tx.stamp();
    writeRevision(tx, place, { kind: "snapshot", stamp }, snapshot);
    context.contents.share(tx, blob.content);
    const { etag, modifiedMs } = snapshot;
    if (!isVersioned(context, place)) {
      return { etag, modifiedMs, versionId: 0n, snapshot: stamp };
    }
    // With versioning, a snapshot also begins a new version of the blob.
    const versionId = tx.stamp();
    reviseBlob(context, tx, place, blob, { ...blob, versionId });
    return { etag, modifiedMs, versionId, snapshot: stamp };
  });
}

/** A snapshot has the blob's ETag and time, unless it gets its own metadata. */
function snapshotOf(tx: Transaction, blob: Blob, asked: SnapshotBlob): Blob {
  const snapshot = { ...blob, lease: null, versionId: 0n };
  const { metadata } = asked;
  if (metadata === null) return snapshot;
  return { ...snapshot, ...nextVersion(tx, blob), ...encryptedFields(metadata, asked) };
}
