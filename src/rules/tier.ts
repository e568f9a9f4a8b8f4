import type { Instant } from "../base/clock.ts";
import type { FaultCode } from "../base/fault.ts";
import { REHYDRATE_HIGH_MS, REHYDRATE_STANDARD_MS } from "../base/limits.ts";

export const TIERS = ["Hot", "Cool", "Cold", "Archive"] as const;
export type Tier = (typeof TIERS)[number];
export const REHYDRATE_PRIORITIES = ["Standard", "High"] as const;
export type RehydratePriority = (typeof REHYDRATE_PRIORITIES)[number];

/** The tier of a blob until one is set. */
export const DEFAULT_TIER: Tier = "Hot";

/** A tier that was set, as stored. */
export interface StoredTier {
  readonly tier: Tier;
  readonly changedMs: Instant;
  /**
   * The rehydration in progress. Once its time has come the blob has moved, without another write.
   */
  readonly rehydration: Rehydration | null;
}

export interface Rehydration {
  readonly to: Tier;
  readonly priority: RehydratePriority;
  readonly readyMs: Instant;
}

export interface TierStatus {
  readonly tier: Tier;
  /** Null if no tier was set. */
  readonly changedMs: Instant | null;
  readonly rehydration: Rehydration | null;
}

const INFERRED: TierStatus = { tier: DEFAULT_TIER, changedMs: null, rehydration: null };

export function tierStatus(stored: StoredTier | null, now: Instant): TierStatus {
  if (stored === null) return INFERRED;
  const { rehydration } = stored;
  if (rehydration === null || now < rehydration.readyMs) return stored;
  return { tier: rehydration.to, changedMs: rehydration.readyMs, rehydration: null };
}

/**
 * An archived blob is neither read nor written; it can be deleted, tagged, leased, and moved to
 * another tier.
 */
export function judgeByTier(stored: StoredTier | null, now: Instant): FaultCode | null {
  const { tier, rehydration } = tierStatus(stored, now);
  if (rehydration !== null) return "BlobBeingRehydrated";
  return tier === "Archive" ? "BlobArchived" : null;
}

export interface SetTier {
  readonly tier: Tier;
  /** Null if the request names none. */
  readonly priority: RehydratePriority | null;
}

export type TierStep =
  | { readonly refused: FaultCode; readonly stored: null }
  | { readonly refused: null; readonly stored: StoredTier };

/**
 * Applies a change of tier. Rehydration takes its time, which can be shortened while it lasts, but
 * neither prolonged nor given another target.
 */
export function stepTier(stored: StoredTier | null, asked: SetTier, now: Instant): TierStep {
  const { tier, changedMs, rehydration } = tierStatus(stored, now);
  if (tier !== "Archive" || changedMs === null) return step(storedTier(asked.tier, now));
  if (rehydration !== null) {
    const priority = asked.priority ?? rehydration.priority;
    const slower = priority === "Standard" && rehydration.priority === "High";
    if (asked.tier !== rehydration.to || slower) {
      return { refused: "BlobBeingRehydrated", stored: null };
    }
    const readyMs = Math.min(rehydration.readyMs, now + DURATIONS_MS[priority]);
    return step({ tier, changedMs, rehydration: { to: asked.tier, priority, readyMs } });
  }
  if (asked.tier === "Archive") return step(storedTier(asked.tier, now));
  const priority = asked.priority ?? "Standard";
  const readyMs = now + DURATIONS_MS[priority];
  return step({ tier, changedMs, rehydration: { to: asked.tier, priority, readyMs } });
}

const DURATIONS_MS: Readonly<Record<RehydratePriority, number>> = {
  Standard: REHYDRATE_STANDARD_MS,
  High: REHYDRATE_HIGH_MS,
};

/** An upload that names no tier gets the tier of the blob it replaces, if there is one. */
export function tierOnUpload(
  tier: Tier | null,
  old: StoredTier | null,
  now: Instant,
): StoredTier | null {
  return tier === null ? tierAsOf(old, now) : storedTier(tier, now);
}

/** A copy of an archived blob is rehydrating from the beginning; the source stays archived. */
export function judgeCopyFromArchive(tier: Tier | null): FaultCode | null {
  return tier === null || tier === "Archive" ? "BlobArchived" : null;
}

/** A blob that is no longer current stays archived: only a copy of it can be rehydrated. */
export function judgeTierOfPast(
  stored: StoredTier | null,
  tier: Tier,
  now: Instant,
): FaultCode | null {
  const isArchived = tierStatus(stored, now).tier === "Archive";
  return isArchived && tier !== "Archive" ? "BlobArchived" : null;
}

/**
 * The tier that the blob has now, without a rehydration in progress, which it will not complete.
 */
export function tierAsOf(stored: StoredTier | null, now: Instant): StoredTier | null {
  if (stored === null || stored.rehydration === null) return stored;
  const { tier, changedMs } = tierStatus(stored, now);
  return storedTier(tier, changedMs ?? now);
}

export function storedTier(tier: Tier, now: Instant): StoredTier {
  return { tier, changedMs: now, rehydration: null };
}

function step(stored: StoredTier): TierStep {
  return { refused: null, stored };
}
