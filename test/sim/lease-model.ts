/**
 * Leases according to the documentation, implemented a second time: the checker judges the server's
 * rules, so it cannot use them.
 */
export interface Lease {
  readonly id: string;
  /** -1 for an infinite one. */
  readonly seconds: number;
  /** When it ends by itself; null if infinite. */
  readonly endsMs: number | null;
  /** If it was broken, when it ends. */
  readonly brokenMs: number | null;
}

export type LeaseState = "available" | "leased" | "expired" | "breaking" | "broken";

export type LeaseAsked =
  /** Without an id the server generates one. */
  | { readonly operation: "acquire"; readonly id: string | null; readonly seconds: number }
  | { readonly operation: "renew"; readonly id: string }
  | { readonly operation: "change"; readonly id: string; readonly to: string }
  | { readonly operation: "release"; readonly id: string }
  | { readonly operation: "break"; readonly seconds: number | null };

export type LeaseDone =
  | { readonly refused: string }
  | { readonly refused: null; readonly lease: Lease | null; readonly secondsLeft: number | null };

const MISMATCH = refused("LeaseIdMismatchWithLeaseOperation");
const NOT_PRESENT = refused("LeaseNotPresentWithLeaseOperation");
const ALREADY_PRESENT = refused("LeaseAlreadyPresent");

export function leaseStateOf(lease: Lease | null, nowMs: number): LeaseState {
  if (lease === null) return "available";
  if (lease.brokenMs !== null) return lease.brokenMs > nowMs ? "breaking" : "broken";
  return lease.endsMs === null || lease.endsMs > nowMs ? "leased" : "expired";
}

/** Whether writes need the id. */
export function isLocked(lease: Lease | null, nowMs: number): lease is Lease {
  const state = leaseStateOf(lease, nowMs);
  return state === "leased" || state === "breaking";
}

/** `newId` is the one that the server generates if needed. */
export function askLease(
  lease: Lease | null,
  asked: LeaseAsked,
  newId: string,
  nowMs: number,
): LeaseDone {
  const state = leaseStateOf(lease, nowMs);
  if (asked.operation === "acquire") {
    const isOwn = lease !== null && lease.id === asked.id;
    if (state === "breaking" && isOwn) return refused("LeaseIsBreakingAndCannotBeAcquired");
    if (state === "breaking" || (state === "leased" && !isOwn)) return ALREADY_PRESENT;
    return { refused: null, lease: begin(asked.id ?? newId, asked.seconds, nowMs), ...NO_TIME };
  }
  if (asked.operation === "break") return breakIt(lease, state, asked.seconds, nowMs);
  if (asked.operation === "change") return change(lease, state, asked.id, asked.to);
  if (lease === null || lease.id !== asked.id) return MISMATCH;
  if (asked.operation === "release") return { refused: null, lease: null, ...NO_TIME };
  if (state === "breaking" || state === "broken") return refused("LeaseIsBrokenAndCannotBeRenewed");
  return { refused: null, lease: begin(lease.id, lease.seconds, nowMs), ...NO_TIME };
}

const NO_TIME = { secondsLeft: null };

function change(lease: Lease | null, state: LeaseState, id: string, to: string): LeaseDone {
  if (lease === null || state === "broken" || state === "expired") return NOT_PRESENT;
  if (state === "breaking") {
    return lease.id === id ? refused("LeaseIsBreakingAndCannotBeChanged") : MISMATCH;
  }
  if (lease.id !== id && lease.id !== to) return MISMATCH;
  return { refused: null, lease: { ...lease, id: to }, ...NO_TIME };
}

function breakIt(
  lease: Lease | null,
  state: LeaseState,
  seconds: number | null,
  nowMs: number,
): LeaseDone {
  if (lease === null) return NOT_PRESENT;
  if (state === "broken") return { refused: null, lease, secondsLeft: 0 };
  if (state === "expired") {
    return { refused: null, lease: { ...lease, brokenMs: nowMs }, secondsLeft: 0 };
  }
  const endsMs = lease.brokenMs ?? lease.endsMs;
  const askedMs = seconds === null ? null : nowMs + seconds * 1000;
  const brokenMs =
    endsMs === null || askedMs === null ? (endsMs ?? askedMs ?? nowMs) : Math.min(endsMs, askedMs);
  const secondsLeft = Math.floor((brokenMs - nowMs) / 1000);
  return { refused: null, lease: { ...lease, brokenMs }, secondsLeft };
}

function begin(id: string, seconds: number, nowMs: number): Lease {
  return { id, seconds, endsMs: seconds === -1 ? null : nowMs + seconds * 1000, brokenMs: null };
}

function refused(code: string): LeaseDone {
  return { refused: `409 ${code}` };
}
