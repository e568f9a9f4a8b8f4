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
    const tier = asked.tier ?? share.tier;
    const changed: Share = {
      ...share,
      ...nextVersion(tx, share),
      quotaGib: asked.quotaGib ?? share.quotaGib,
      tier,
      tierChangedMs: tier === share.tier ? share.tierChangedMs : tx.now(),
    };
    writeShare(tx, asked.at, changed);
    return changed;
  });
}
