import type { Instant } from "../base/clock.ts";
import { TIER_TRANSITION_MS } from "../base/limits.ts";

/**
 * The tier that a share is still leaving. Nothing moves here when a tier changes; the service takes
 * a while for it, and clients look for that.
 */
export function tierLeft<Tier>(before: Tier | null, changedMs: Instant, now: Instant): Tier | null {
  return now < changedMs + TIER_TRANSITION_MS ? before : null;
}
