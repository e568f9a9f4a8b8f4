import type { Instant } from "../base/clock.ts";
import { TIER_TRANSITION_MS } from "../base/limits.ts";

/**
 * The tier that a share is still leaving; null once it has left it. Nothing moves here when a tier
 * changes, but clients expect to see the transition that takes the service a while.
 */
export function tierLeft<Tier>(before: Tier | null, changedMs: Instant, now: Instant): Tier | null {
  return now < changedMs + TIER_TRANSITION_MS ? before : null;
}
