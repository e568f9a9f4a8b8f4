import type { Instant } from "../base/clock.ts";
import type { FaultCode } from "../base/fault.ts";

/**
 * A lease as stored. Its state is computed from the time, so nothing runs when it expires. An
 * expired or broken lease still has its id; a released one is gone (null).
 */
export interface Lease {
  /** Lower-case GUID. */
  readonly id: string;
  /** 15 to 60, or -1 for an infinite lease. */
  readonly durationSeconds: number;
  /** When a fixed lease ends; null if infinite. */
  readonly untilMs: Instant | null;
  /** When a broken lease ends; null if it was not broken. */
  readonly brokenAtMs: Instant | null;
}

export type LeaseState = "available" | "leased" | "expired" | "breaking" | "broken";

/** The kind of object that is leased. Some fault codes contain it. */
export type LeaseSubject = "Blob" | "Container" | "File";

export function leaseState(lease: Lease | null, now: Instant): LeaseState {
  if (lease === null) return "available";
  if (lease.brokenAtMs !== null) return now < lease.brokenAtMs ? "breaking" : "broken";
  return lease.untilMs === null || now < lease.untilMs ? "leased" : "expired";
}

/** A lease as clients see it. */
export interface LeaseStatus {
  readonly state: LeaseState;
  readonly status: "locked" | "unlocked";
  /** Set only while it is leased. */
  readonly duration: "infinite" | "fixed" | null;
}

export function leaseStatus(lease: Lease | null, now: Instant): LeaseStatus {
  const state = leaseState(lease, now);
  const status = state === "leased" || state === "breaking" ? "locked" : "unlocked";
  if (lease === null || state !== "leased") return { state, status, duration: null };
  return { state, status, duration: lease.durationSeconds === -1 ? "infinite" : "fixed" };
}

/** Whether writes need the lease id now. */
export function leaseIsLocked(lease: Lease | null, now: Instant): boolean {
  return leaseStatus(lease, now).status === "locked";
}

export interface AcquireLease {
  readonly action: "acquire";
  readonly proposedId: string;
  readonly isNewId: boolean;
  readonly durationSeconds: number;
}

export type LeaseAction =
  | AcquireLease
  | { readonly action: "renew"; readonly id: string }
  | { readonly action: "change"; readonly id: string; readonly proposedId: string }
  | { readonly action: "release"; readonly id: string }
  | { readonly action: "break"; readonly periodSeconds: number | null };

/** `lease` is stored from now on; `secondsLeft` are the whole seconds until a break. */
export type LeaseOutcome =
  | { readonly refused: FaultCode }
  | { readonly refused: null; readonly lease: Lease | null; readonly secondsLeft: number };

/** One step of the lease state machine. */
export function stepLease(lease: Lease | null, asked: LeaseAction, now: Instant): LeaseOutcome {
  switch (asked.action) {
    case "acquire":
      return acquire(lease, asked, now);
    case "renew":
      return renew(lease, asked.id, now);
    case "change":
      return change(lease, asked.id, asked.proposedId, now);
    case "release":
      return lease?.id === asked.id ? ok(null) : refused("LeaseIdMismatchWithLeaseOperation");
    case "break":
      return breakLease(lease, asked.periodSeconds, now);
  }
}

/**
 * A write needs the id while the lease is locked. Otherwise it needs none, and a stale one is
 * refused.
 */
export function judgeWriteByLease(
  lease: Lease | null,
  id: string | null,
  now: Instant,
  subject: LeaseSubject,
): FaultCode | null {
  if (id === null) return leaseIsLocked(lease, now) ? "LeaseIdMissing" : null;
  return judgeReadByLease(lease, id, now, subject);
}

/** A read without an id passes; an id that is sent is checked. */
export function judgeReadByLease(
  lease: Lease | null,
  id: string | null,
  now: Instant,
  subject: LeaseSubject,
): FaultCode | null {
  if (id === null) return null;
  if (lease === null) return `LeaseNotPresentWith${subject}Operation`;
  if (lease.id !== id) return `LeaseIdMismatchWith${subject}Operation`;
  return leaseIsLocked(lease, now) ? null : "LeaseLost";
}

/** A copy may take longer than a fixed lease, so its target must not have one. */
export function judgeCopyByLease(lease: Lease | null, now: Instant): FaultCode | null {
  const { duration } = leaseStatus(lease, now);
  return duration === "fixed" ? "InfiniteLeaseDurationRequired" : null;
}

/** A write forgets a lease that is no longer locked. */
export function leaseAfterWrite(lease: Lease | null, now: Instant): Lease | null {
  return leaseIsLocked(lease, now) ? lease : null;
}

function acquire(lease: Lease | null, asked: AcquireLease, now: Instant): LeaseOutcome {
  const mine = !asked.isNewId && lease?.id === asked.proposedId;
  const state = leaseState(lease, now);
  if (state === "breaking") {
    return refused(mine ? "LeaseIsBreakingAndCannotBeAcquired" : "LeaseAlreadyPresent");
  }
  if (state === "leased" && !mine) return refused("LeaseAlreadyPresent");
  return ok(running(asked.proposedId, asked.durationSeconds, now));
}

function renew(lease: Lease | null, id: string, now: Instant): LeaseOutcome {
  if (lease?.id !== id) return refused("LeaseIdMismatchWithLeaseOperation");
  if (lease.brokenAtMs !== null) return refused("LeaseIsBrokenAndCannotBeRenewed");
  return ok(running(id, lease.durationSeconds, now));
}

function change(lease: Lease | null, id: string, proposedId: string, now: Instant): LeaseOutcome {
  const state = leaseState(lease, now);
  if (lease === null || state === "broken" || state === "expired") {
    return refused("LeaseNotPresentWithLeaseOperation");
  }
  if (state === "breaking") {
    return refused(
      lease.id === id ? "LeaseIsBreakingAndCannotBeChanged" : "LeaseIdMismatchWithLeaseOperation",
    );
  }
  // A client may repeat a change whose answer was lost.
  if (lease.id !== id && lease.id !== proposedId)
    return refused("LeaseIdMismatchWithLeaseOperation");
  return ok({ ...lease, id: proposedId });
}

function breakLease(lease: Lease | null, periodSeconds: number | null, now: Instant): LeaseOutcome {
  if (lease === null) return refused("LeaseNotPresentWithLeaseOperation");
  const state = leaseState(lease, now);
  if (state === "broken" || state === "expired") {
    return ok({ ...lease, brokenAtMs: Math.min(lease.brokenAtMs ?? now, now) });
  }
  const endsAtMs = lease.brokenAtMs ?? lease.untilMs;
  const asked = periodSeconds === null ? null : now + periodSeconds * 1000;
  const brokenAtMs = Math.min(endsAtMs ?? asked ?? now, asked ?? endsAtMs ?? now);
  return ok({ ...lease, brokenAtMs }, Math.floor((brokenAtMs - now) / 1000));
}

function running(id: string, durationSeconds: number, now: Instant): Lease {
  const untilMs = durationSeconds === -1 ? null : now + durationSeconds * 1000;
  return { id, durationSeconds, untilMs, brokenAtMs: null };
}

function ok(lease: Lease | null, secondsLeft = 0): LeaseOutcome {
  return { refused: null, lease, secondsLeft };
}

function refused(code: FaultCode): LeaseOutcome {
  return { refused: code };
}
