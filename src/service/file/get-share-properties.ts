import { refuse } from "../../base/fault.ts";
import { FILE_NEEDS } from "../../rules/file-needs.ts";
import { type LeaseStatus, leaseStatus, refuseReadByLease } from "../../rules/lease.ts";
import { admitToShare } from "./admit.ts";
import type { FileContext, ShareUse } from "./context.ts";
import type { Share } from "./records.ts";

export interface ShareFound {
  readonly share: Share;
  readonly lease: LeaseStatus;
}

export async function getShareProperties(
  context: FileContext,
  asked: ShareUse,
): Promise<ShareFound> {
  return context.store.read((view) => {
    const share = admitToShare(view, asked, FILE_NEEDS.getShareProperties);
    refuse(refuseReadByLease(share.lease, asked.leaseId, view.now(), "Container"));
    return { share, lease: leaseStatus(share.lease, view.now()) };
  });
}
