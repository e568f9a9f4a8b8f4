import type { Instant } from "../base/clock.ts";
import { DAY_MS } from "../base/limits.ts";

/** A soft-deleted object, which can be restored until its time is over. */
export interface Retained {
  readonly deletedMs: Instant;
  readonly untilMs: Instant;
}

/** A deletion as lists show it. */
export interface Deletion {
  readonly deletedMs: Instant;
  /** Whole days for which it can still be restored. */
  readonly daysLeft: number;
}

export function endOfRetention(now: Instant, days: number): Instant {
  return now + days * DAY_MS;
}

/** Null once its time is over, even if the sweeper has not removed it yet. */
export function deletionOf({ deletedMs, untilMs }: Retained, now: Instant): Deletion | null {
  if (untilMs <= now) return null;
  return { deletedMs, daysLeft: Math.floor((untilMs - now) / DAY_MS) };
}
