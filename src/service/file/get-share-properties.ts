import { refuse } from "../../base/fault.ts";
import type { Need } from "../../rules/access.ts";
import { FILE_NEEDS } from "../../rules/file-needs.ts";
import { judgeReadByLease, type LeaseStatus, leaseStatus } from "../../rules/lease.ts";
import type { View } from "../../store/store.ts";
import { admitToShare, requireSnapshot } from "./admit.ts";
import type { FileContext, ShareUse } from "./context.ts";
import type { Share, ShareSnapshot } from "./records.ts";
import { type TierStatus, tierStatus } from "./share-tier.ts";

export interface ShareFound {
  readonly share: Share;
  /** The share as it is now, or the snapshot that the request names. */
  readonly revision: Share | ShareSnapshot;
  readonly lease: LeaseStatus;
  readonly tier: TierStatus;
}

export async function getShareProperties(
  context: FileContext,
  asked: ShareUse,
): Promise<ShareFound> {
  return context.store.read((view) => lookAtShare(view, asked, FILE_NEEDS.getShareProperties));
}

/** Admits a reader of a share: it needs no lease, but a lease id that is sent is checked. */
export function lookAtShare(view: View, asked: ShareUse, need: Need): ShareFound {
  const share = admitToShare(view, asked, need);
  const { snapshot } = asked.at;
  const revision = snapshot === null ? share : requireSnapshot(view, share, snapshot).snapshot;
  const now = view.now();
  refuse(judgeReadByLease(revision.lease, asked.leaseId, now, "Container"));
  return { share, revision, lease: leaseStatus(revision.lease, now), tier: tierStatus(share, now) };
}
