import type { Instant } from "../base/clock.ts";
import { DAY_MS } from "../base/limits.ts";

/** What was deleted and can be restored, until its time is over. */
export interface Retained {
  readonly deletedMs: Instant;
  readonly untilMs: Instant;
}

/** What lists tell of it. */
export interface Deletion {
  readonly deletedMs: Instant;
  /** Whole days for which it can still be restored. */
  readonly daysLeft: number;
}

export function endOfRetention(now: Instant, days: number): Instant {
  return now + days * DAY_MS;
}

/** Null once its time is over, whether or not the sweeper has come by. */
export function deletionOf({ deletedMs, untilMs }: Retained, now: Instant): Deletion | null {
  if (untilMs <= now) return null;
  return { deletedMs, daysLeft: Math.floor((untilMs - now) / DAY_MS) };
}
