import type { Instant } from "../base/clock.ts";
import { TIER_TRANSITION_MS } from "../base/limits.ts";

/**
 * The tier that a share is changing from; null once it has changed. Nothing moves here when a tier
 * changes, but clients expect to see the transition, which takes the service a while.
 */
export function tierLeft<Tier>(before: Tier | null, changedMs: Instant, now: Instant): Tier | null {
  return now < changedMs + TIER_TRANSITION_MS ? before : null;
}
