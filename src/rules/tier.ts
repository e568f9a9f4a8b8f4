import type { Instant } from "../base/clock.ts";
import type { FaultCode } from "../base/fault.ts";
import { REHYDRATE_HIGH_MS, REHYDRATE_STANDARD_MS } from "../base/limits.ts";

export const TIERS = ["Hot", "Cool", "Cold", "Archive"] as const;
export type Tier = (typeof TIERS)[number];
export const REHYDRATE_PRIORITIES = ["Standard", "High"] as const;
export type RehydratePriority = (typeof REHYDRATE_PRIORITIES)[number];

/** What a blob is in unless somebody says otherwise. */
export const DEFAULT_TIER: Tier = "Hot";

/** What is stored of a tier that somebody has set. */
export interface StoredTier {
  readonly tier: Tier;
  readonly changedMs: Instant;
  /** On its way out of the archive; once the time has come it is there, and nobody has to write that. */
  readonly rehydration: Rehydration | null;
}

export interface Rehydration {
  readonly to: Tier;
  readonly priority: RehydratePriority;
  readonly readyMs: Instant;
}

export interface TierStatus {
  readonly tier: Tier;
  /** Null while nobody has set it. */
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

/** An archived blob is neither read nor written: it can be deleted, tagged, leased, and moved to another tier. */
export function judgeByTier(stored: StoredTier | null, now: Instant): FaultCode | null {
  const { tier, rehydration } = tierStatus(stored, now);
  if (rehydration !== null) return "BlobBeingRehydrated";
  return tier === "Archive" ? "BlobArchived" : null;
}

export interface SetTier {
  readonly tier: Tier;
  /** Null where it is not named. */
  readonly priority: RehydratePriority | null;
}

export type TierStep =
  | { readonly refused: FaultCode; readonly stored: null }
  | { readonly refused: null; readonly stored: StoredTier };

/**
 * Out of the archive it takes its time, which can be shortened while it lasts, but neither be
 * prolonged nor be given another aim.
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

/** What is uploaded without naming a tier is in that of the blob that it replaces, if there is one. */
export function tierOnUpload(
  tier: Tier | null,
  old: StoredTier | null,
  now: Instant,
): StoredTier | null {
  return tier === null ? tierAsOf(old, now) : storedTier(tier, now);
}

/** A copy of what is archived is on its way out from the beginning; the source stays where it is. */
export function judgeCopyFromArchive(tier: Tier | null): FaultCode | null {
  return tier === null || tier === "Archive" ? "BlobArchived" : null;
}

/** What is not the current blob any more stays in the archive: only a copy of it gets out. */
export function judgeTierOfPast(
  stored: StoredTier | null,
  tier: Tier,
  now: Instant,
): FaultCode | null {
  const isArchived = tierStatus(stored, now).tier === "Archive";
  return isArchived && tier !== "Archive" ? "BlobArchived" : null;
}

/** Where it is now, and stays: what is on its way out of the archive does not get there. */
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
