import type { Instant } from "../../base/clock.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import { type LeaseStatus, leaseStatus } from "../../rules/lease.ts";
import { type TierStatus, tierStatus } from "../../rules/tier.ts";
import { admitBlobLook } from "./admit.ts";
import type { BlobContext, BlobRead } from "./context.ts";
import type { Blob } from "./records.ts";

export interface BlobFound {
  readonly blob: Blob;
  readonly isCurrent: boolean;
  /** Null unless the revision is current: only current blobs can be leased. */
  readonly lease: LeaseStatus | null;
  /** Null unless it is a block blob: other types have no tier. */
  readonly tier: TierStatus | null;
}

export function blobFound(blob: Blob, isCurrent: boolean, now: Instant): BlobFound {
  return {
    blob,
    isCurrent,
    lease: isCurrent ? leaseStatus(blob.lease, now) : null,
    tier: blob.type === "BlockBlob" ? tierStatus(blob.tier, now) : null,
  };
}

export async function getBlobProperties(context: BlobContext, asked: BlobRead): Promise<BlobFound> {
  return context.store.read((view) => {
    const { blob, isCurrent } = admitBlobLook(view, asked, BLOB_NEEDS.getBlobProperties);
    return blobFound(blob, isCurrent, view.now());
  });
}
