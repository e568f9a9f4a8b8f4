import type { Instant } from "../../base/clock.ts";
import { FILE_NEEDS } from "../../rules/file-needs.ts";
import { admitShareUpdate } from "./admit.ts";
import type { FileContext, ShareUse } from "./context.ts";
import { type Share, type ShareTier, writeShare } from "./records.ts";
import { nextVersion } from "./version.ts";

export interface SetShareProperties extends ShareUse {
  /** Null to leave it unchanged; likewise `tier`. */
  readonly quotaGib: number | null;
  readonly tier: ShareTier | null;
}

/** Sets quota and tier. A quota below the usage is valid: then nothing can grow. */
export async function setShareProperties(
  context: FileContext,
  asked: SetShareProperties,
): Promise<Share> {
  return context.store.transact((tx) => {
    const share = admitShareUpdate(tx, asked, FILE_NEEDS.setShareProperties);
    const changed: Share = {
      ...share,
      ...nextVersion(tx, share),
      ...tierAfter(share, asked.tier ?? share.tier, tx.now()),
      quotaGib: asked.quotaGib ?? share.quotaGib,
    };
    writeShare(tx, asked.at, changed);
    return changed;
  });
}

function tierAfter(share: Share, tier: ShareTier, now: Instant): Partial<Share> {
  return tier === share.tier ? {} : { tier, tierChangedMs: now, tierBefore: share.tier };
}
