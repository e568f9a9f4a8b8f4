import type { Instant } from "../../base/clock.ts";
import { refuse } from "../../base/fault.ts";
import type { Need } from "../../rules/access.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import { judgeReadByConditions } from "../../rules/conditions.ts";
import { judgeReadByLease, type LeaseStatus, leaseStatus } from "../../rules/lease.ts";
import { type TierStatus, tierStatus } from "../../rules/tier.ts";
import type { View } from "../../store/store.ts";
import { admitBlobLook, admitToContainer } from "./admit.ts";
import type { BlobContext, BlobRead } from "./context.ts";
import { decrypted, requireKey } from "./encryption.ts";
import { findPlace } from "./find-path.ts";
import type { Blob } from "./records.ts";
import { rootDirectory } from "./root-directory.ts";

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

export function getBlobProperties(context: BlobContext, asked: BlobRead): Promise<BlobFound> {
  return look(context, asked, BLOB_NEEDS.getBlobProperties, (blob) => {
    requireKey(blob, asked);
    return decrypted(blob, asked);
  });
}

/** For what the system knows of a path, without what its users gave it: that takes no key. */
export function getPathStatus(context: BlobContext, asked: BlobRead): Promise<BlobFound> {
  return look(context, asked, BLOB_NEEDS.getPathStatus);
}

async function look(
  context: BlobContext,
  asked: BlobRead,
  need: Need,
  shown = (blob: Blob) => blob,
): Promise<BlobFound> {
  return context.store.read((view) => {
    if (asked.at.blob === "") return blobFound(lookAtRoot(view, asked, need), true, view.now());
    const { blob, isCurrent } = admitBlobLook(view, asked, need);
    return blobFound(shown(blob), isCurrent, view.now());
  });
}

/** Data Lake clients address the root directory by an empty name. */
function lookAtRoot(view: View, asked: BlobRead, need: Need): Blob {
  const container = admitToContainer(view, asked, need, true);
  findPlace(view, container, asked, need);
  const root = rootDirectory(container);
  refuse(judgeReadByConditions(root, asked.conditions));
  refuse(judgeReadByLease(null, asked.leaseId, view.now(), "Blob"));
  return root;
}
