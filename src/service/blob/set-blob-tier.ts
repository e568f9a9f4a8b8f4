import { Fault, refuse } from "../../base/fault.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import { judgeByPendingCopy } from "../../rules/copy.ts";
import { judgeReadByLease, leaseAfterWrite } from "../../rules/lease.ts";
import { judgeTierOfPast, type SetTier, stepTier } from "../../rules/tier.ts";
import { admitToRevision, requireTagConditions } from "./admit.ts";
import type { BlobContext, BlobRead } from "./context.ts";
import { requireFile } from "./hierarchical-limits.ts";
import { amendRevision } from "./history.ts";

/** Only the condition on tags is checked. */
export interface SetBlobTier extends BlobRead, Pick<SetTier, "priority"> {
  /** Null for a tier that only premium accounts have. */
  readonly tier: SetTier["tier"] | null;
}

export interface SetBlobTierDone {
  /** Whether the blob has to be rehydrated first. */
  readonly isPending: boolean;
}

/** Changes neither ETag nor modification time, and a lease does not block it. */
export async function setBlobTier(
  context: BlobContext,
  asked: SetBlobTier,
): Promise<SetBlobTierDone> {
  const { tier, priority } = asked;
  return context.store.transact((tx) => {
    const found = admitToRevision(tx, asked, BLOB_NEEDS.setBlobTier);
    const { container, blob, isCurrent } = found;
    requireFile(blob);
    if (blob.type !== "BlockBlob") {
      throw new Fault("AccessTierNotSupportedForBlobType", { BlobType: blob.type });
    }
    if (tier === null) {
      throw new Fault("InvalidBlobTier", { Reason: "Only premium page blobs have this tier." });
    }
    requireTagConditions(tx, asked, container, blob);
    refuse(judgeReadByLease(blob.lease, asked.leaseId, tx.now(), "Blob"));
    refuse(judgeByPendingCopy(blob.copy));
    if (!isCurrent) refuse(judgeTierOfPast(blob.tier, tier, tx.now()));
    const { refused, stored } = stepTier(blob.tier, { tier, priority }, tx.now());
    if (refused !== null) throw new Fault(refused);
    const lease = leaseAfterWrite(blob.lease, tx.now());
    amendRevision(context, tx, found, asked.at.revision, { ...blob, tier: stored, lease });
    return { isPending: stored.rehydration !== null };
  });
}
