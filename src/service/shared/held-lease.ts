import type { Instant } from "../../base/clock.ts";
import { type Lease, leaseState } from "../../rules/lease.ts";
import type { HeldLease } from "./holder.ts";

/** Null unless writes need the id of the lease now. */
export function heldLease(
  object: HeldLease["object"],
  lease: Lease | null,
  now: Instant,
): HeldLease | null {
  if (lease === null) return null;
  const state = leaseState(lease, now);
  if (state !== "leased" && state !== "breaking") return null;
  const { id, durationSeconds } = lease;
  const untilMs = state === "breaking" ? lease.brokenAtMs : lease.untilMs;
  return { kind: "lease", object, id, state, durationSeconds, untilMs };
}
