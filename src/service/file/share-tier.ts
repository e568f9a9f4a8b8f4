import type { Instant } from "../../base/clock.ts";
import { instantOf } from "../../base/stamp.ts";
import { tierLeft } from "../../rules/tier-transition.ts";
import type { Share, ShareTier } from "./records.ts";

/** What clients see of the tier of a share. */
export interface TierStatus {
  readonly tier: ShareTier;
  /** When it was chosen, which is first when the share is created. */
  readonly changedMs: Instant;
  /** The tier from which the share is on its way; null if it has arrived. */
  readonly from: ShareTier | null;
}

export function tierStatus(share: Share, now: Instant): TierStatus {
  const { id, tier, tierChangedMs, tierBefore } = share;
  const changedMs = tierChangedMs ?? instantOf(id);
  return { tier, changedMs, from: tierLeft(tierBefore, changedMs, now) };
}
