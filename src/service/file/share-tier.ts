import type { Instant } from "../../base/clock.ts";
import { instantOf } from "../../base/stamp.ts";
import { tierLeft } from "../../rules/tier-transition.ts";
import type { Share, ShareTier } from "./records.ts";

/** The tier of a share as clients see it. */
export interface TierStatus {
  readonly tier: ShareTier;
  /** When the tier was set; first when the share is created. */
  readonly changedMs: Instant;
  /** The tier that the share is changing from; null if it has changed. */
  readonly from: ShareTier | null;
}

export function tierStatus(share: Share, now: Instant): TierStatus {
  const { id, tier, tierChangedMs, tierBefore } = share;
  const changedMs = tierChangedMs ?? instantOf(id);
  return { tier, changedMs, from: tierLeft(tierBefore, changedMs, now) };
}
