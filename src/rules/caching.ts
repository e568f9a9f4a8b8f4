/**
 * What a client may keep of a file until it is notice otherwise: what it read, the handle after its
 * program has closed it, and what its program wrote. Oplocks and leases are both made of these.
 */
export const READ_CACHING = 1;
export const HANDLE_CACHING = 2;
export const WRITE_CACHING = 4;
export const NO_CACHING = 0;
const ALL_CACHING = READ_CACHING | HANDLE_CACHING | WRITE_CACHING;

/** An oplock is of one handle and is given up in one step; a lease is of a client. */
export type CachingKind = "oplock" | "lease";

/** What one client may keep, and what it has been notice to give up. */
export interface Caching {
  readonly kind: CachingKind;
  readonly state: number;
  /** While the client has not said that it has given up what it was notice to. */
  readonly breaking: Breaking | null;
}

export interface Breaking {
  /** What it kept when it was first notice. */
  readonly from: number;
  /** What the client was notice to keep. */
  readonly to: number;
  /** What it will have to keep in the end: others may have asked for more meanwhile. */
  readonly target: number;
}

/** What an operation leaves others to keep, and what of it they must have given up before. */
export interface Intrusion {
  readonly leaves: number;
  readonly awaits: number;
  /** Whether leases are left alone. */
  readonly sparesLeases?: boolean;
}

/** Reads see what others wrote. */
export const READS: Intrusion = { leaves: READ_CACHING | HANDLE_CACHING, awaits: WRITE_CACHING };
/** Who looks at more than attributes is like a reader to oplocks, which are older than leases. */
export const LOOKS_AT_SECURITY: Intrusion = { ...READS, sparesLeases: true };
/** After a write nobody has the right bytes any more. */
export const WRITES: Intrusion = { leaves: NO_CACHING, awaits: WRITE_CACHING };
/** A handle that is only kept is no reason to be refused. */
export const NEEDS_HANDLES: Intrusion = {
  leaves: READ_CACHING | WRITE_CACHING,
  awaits: HANDLE_CACHING,
};

/** Whether what an operation does leaves its own client to keep what it has. */
export function isSpared({ kind, state }: Caching, { leaves }: Intrusion): boolean {
  // Oplocks to read are many clients' at a time: a write ends them all.
  return kind === "lease" || state !== READ_CACHING || (leaves & READ_CACHING) !== 0;
}

/** Whether an operation must wait, or at least has something to tell the client. */
export function needsBreak(caching: Caching, intrusion: Intrusion): boolean {
  if (intrusion.sparesLeases === true && caching.kind === "lease") return false;
  return awaitsBreak(caching, intrusion) || targetOf(caching, intrusion.leaves) !== goalOf(caching);
}

export function awaitsBreak({ state, breaking }: Caching, { awaits }: Intrusion): boolean {
  return ((breaking?.from ?? state) & awaits) !== 0;
}

/** A step that a client is notice of. */
export interface BreakStep {
  readonly caching: Caching;
  /** Null if there is nothing new to tell. */
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

/** What a client that answers gave up; whoever asked for more meanwhile has it notice to go on. */
export function acknowledgeBreak(
  caching: Caching,
  state: number,
): BreakStep | "not-breaking" | "too-much" {
  const { kind, breaking } = caching;
  if (breaking === null) return "not-breaking";
  if ((state & ~breaking.to) !== 0) return "too-much";
  const target = state & breaking.target;
  if (target === state) return { caching: { kind, state, breaking: null }, notice: null };
  // Handles are given up before what was read.
  const to = (state & HANDLE_CACHING) !== 0 ? target | READ_CACHING : target;
  return stepTo(kind, state, { from: breaking.from, to, target });
}

/** The client did not answer in time: nothing that it keeps counts any more. */
export function forceBreak({ kind }: Caching): Caching {
  return { kind, state: NO_CACHING, breaking: null };
}

/** What was read is simply forgotten: there is nothing to wait for. */
function stepTo(kind: CachingKind, state: number, breaking: Breaking): BreakStep {
  const { to } = breaking;
  if (state === READ_CACHING) {
    const caching = { kind, state: to, breaking: null };
    return { caching, notice: { from: state, to, mustAnswer: false } };
  }
  return { caching: { kind, state, breaking }, notice: { from: state, to, mustAnswer: true } };
}

/** What is left in the end, if nobody asks for more. */
function goalOf({ state, breaking }: Caching): number {
  return breaking === null ? state : breaking.target;
}

function targetOf(caching: Caching, leaves: number): number {
  const goal = goalOf(caching);
  const target = goal & leaves;
  if (target === goal || caching.kind === "lease") return target;
  return target & READ_CACHING;
}

/** Who else has the file open, as far as that matters to who wants to keep something of it. */
export interface Rivals {
  /** Whether anybody else has it open, not only to look at its attributes. */
  readonly areThere: boolean;
  /** What is kept of it by others. */
  readonly cachings: readonly Caching[];
  readonly hasLocks: boolean;
}

/** What a client that asks for `wanted` may keep. */
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

/** What a client keeps that asks again under a key that it has: all that it asks for, or what it has. */
export function upgradeCaching(
  { state, breaking }: Caching,
  wanted: number,
  granted: number,
): number {
  const isMore = (wanted & state) === state;
  return breaking === null && isMore && granted === wanted ? wanted : state;
}
