/**
 * What a client may cache of a file until the server breaks it: data it read, the handle after its
 * program closed it, and data its program wrote. Oplocks and leases both consist of these bits.
 */
export const READ_CACHING = 1;
export const HANDLE_CACHING = 2;
export const WRITE_CACHING = 4;
export const NO_CACHING = 0;
const ALL_CACHING = READ_CACHING | HANDLE_CACHING | WRITE_CACHING;

/** An oplock belongs to one handle and is given up in one step; a lease belongs to a client. */
export type CachingKind = "oplock" | "lease";

/** The caching of one client, and the break that is in progress. */
export interface Caching {
  readonly kind: CachingKind;
  readonly state: number;
  /** Set until the client acknowledges the break. */
  readonly breaking: Breaking | null;
}

export interface Breaking {
  /** The caching when the break began. */
  readonly from: number;
  /** The caching that the client was told to go down to. */
  readonly to: number;
  /** The caching at the end, which may be less if later operations needed more. */
  readonly target: number;
}

/**
 * How an operation affects other clients: the caching it leaves them, and the caching it waits for.
 */
export interface Intrusion {
  readonly leaves: number;
  readonly awaits: number;
  /** Whether leases are not broken. */
  readonly sparesLeases?: boolean;
}

/** Reads must see data that others have cached for writing. */
export const READS: Intrusion = { leaves: READ_CACHING | HANDLE_CACHING, awaits: WRITE_CACHING };
/** Reading a security descriptor breaks oplocks like a read; leases, which are newer, are left. */
export const LOOKS_AT_SECURITY: Intrusion = { ...READS, sparesLeases: true };
/** After a write all cached data is stale. */
export const WRITES: Intrusion = { leaves: NO_CACHING, awaits: WRITE_CACHING };
/** A handle that is only cached is no reason for a refusal. */
export const NEEDS_HANDLES: Intrusion = {
  leaves: READ_CACHING | WRITE_CACHING,
  awaits: HANDLE_CACHING,
};

/** Whether an operation leaves the caching of its own client intact. */
export function isSpared({ kind, state }: Caching, { leaves }: Intrusion): boolean {
  // Several clients may have read oplocks at a time: a write ends them all.
  return kind === "lease" || state !== READ_CACHING || (leaves & READ_CACHING) !== 0;
}

/** Whether an operation must wait for a break, or at least send a notice. */
export function needsBreak(caching: Caching, intrusion: Intrusion): boolean {
  if (intrusion.sparesLeases === true && caching.kind === "lease") return false;
  return awaitsBreak(caching, intrusion) || targetOf(caching, intrusion.leaves) !== goalOf(caching);
}

export function awaitsBreak({ state, breaking }: Caching, { awaits }: Intrusion): boolean {
  return ((breaking?.from ?? state) & awaits) !== 0;
}

/** One step of a break. */
export interface BreakStep {
  readonly caching: Caching;
  /** The notice to send to the client; null if there is nothing new. */
  readonly notice: {
    readonly from: number;
    readonly to: number;
    readonly mustAnswer: boolean;
  } | null;
}

export function beginBreak(caching: Caching, { leaves }: Intrusion): BreakStep {
  const target = targetOf(caching, leaves);
  if (target === goalOf(caching)) return { caching, notice: null };
  const { kind, state, breaking } = caching;
  if (breaking === null) return stepTo(kind, state, { from: state, to: target, target });
  const { from, to } = breaking;
  return { caching: { kind, state, breaking: { from, to, target } }, notice: null };
}

/** Applies a client's answer to a break. Returns the next step if a later operation needs more. */
export function acknowledgeBreak(
  caching: Caching,
  state: number,
): BreakStep | "not-breaking" | "too-much" {
  const { kind, breaking } = caching;
  if (breaking === null) return "not-breaking";
  if ((state & ~breaking.to) !== 0) return "too-much";
  const target = state & breaking.target;
  if (target === state) return { caching: { kind, state, breaking: null }, notice: null };
  // Handle caching is given up before read caching.
  const to = (state & HANDLE_CACHING) !== 0 ? target | READ_CACHING : target;
  return stepTo(kind, state, { from: breaking.from, to, target });
}

/** The caching of a client that did not answer in time: none. */
export function forceBreak({ kind }: Caching): Caching {
  return { kind, state: NO_CACHING, breaking: null };
}

/** Begins a step. Giving up read caching alone needs no answer. */
function stepTo(kind: CachingKind, state: number, breaking: Breaking): BreakStep {
  const { to } = breaking;
  if (state === READ_CACHING) {
    const caching = { kind, state: to, breaking: null };
    return { caching, notice: { from: state, to, mustAnswer: false } };
  }
  return { caching: { kind, state, breaking }, notice: { from: state, to, mustAnswer: true } };
}

/** The caching after all breaks in progress. */
function goalOf({ state, breaking }: Caching): number {
  return breaking === null ? state : breaking.target;
}

function targetOf(caching: Caching, leaves: number): number {
  const goal = goalOf(caching);
  const target = goal & leaves;
  if (target === goal || caching.kind === "lease") return target;
  return target & READ_CACHING;
}

/** The other opens and caches of a file, as far as they decide on new caching. */
export interface Rivals {
  /** Whether there are other opens, except those that only look at attributes. */
  readonly areThere: boolean;
  /** The caching of others. */
  readonly cachings: readonly Caching[];
  readonly hasLocks: boolean;
}

/** The caching that a client gets that asks for `wanted`. */
export function grantCaching(kind: CachingKind, wanted: number, rivals: Rivals): number {
  if ((wanted & READ_CACHING) === 0 || wanted > ALL_CACHING || rivals.hasLocks) return NO_CACHING;
  const { cachings } = rivals;
  const isLeaseHandle = ({ kind, state }: Caching) =>
    kind === "lease" && (state & HANDLE_CACHING) !== 0;
  if (kind === "oplock" && cachings.some(isLeaseHandle)) return NO_CACHING;
  if (cachings.some(({ state }) => (state & WRITE_CACHING) !== 0)) return NO_CACHING;
  let granted = wanted;
  if (rivals.areThere || cachings.length > 0) granted &= ~WRITE_CACHING;
  if (kind === "oplock") return (granted & WRITE_CACHING) !== 0 ? granted : READ_CACHING;
  const isOplock = (caching: Caching) => caching.kind === "oplock" && caching.state !== 0;
  return cachings.some(isOplock) ? granted & ~HANDLE_CACHING : granted;
}

/**
 * The caching of a client that asks again with the same lease key: all that it asks for, or what it
 * has.
 */
export function upgradeCaching(
  { state, breaking }: Caching,
  wanted: number,
  granted: number,
): number {
  const isMore = (wanted & state) === state;
  return breaking === null && isMore && granted === wanted ? wanted : state;
}
