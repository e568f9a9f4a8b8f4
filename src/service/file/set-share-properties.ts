import type { Instant } from "../../base/clock.ts";
import { FILE_NEEDS } from "../../rules/file-needs.ts";
import { admitShareUpdate } from "./admit.ts";
import type { FileContext, ShareUse } from "./context.ts";
import { type Share, type ShareTier, writeShare } from "./records.ts";
import { nextVersion } from "./version.ts";

export interface SetShareProperties extends ShareUse {
  /** Null to leave it as it is, so with the next. */
  readonly quotaGib: number | null;
  readonly tier: ShareTier | null;
}

/** A quota below what is used is no error: then nothing grows any more. */
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
