/**
 * What a client may keep of a file until it is told otherwise: what it read, the handle after its
 * program has closed it, and what its program wrote. Oplocks and leases are both made of these.
 */
export const KEEP_READ = 1;
export const KEEP_HANDLE = 2;
export const KEEP_WRITES = 4;
export const KEEP_NOTHING = 0;
const KEEP_ALL = KEEP_READ | KEEP_HANDLE | KEEP_WRITES;

/** An oplock is of one handle and is given up in one step; a lease is of a client. */
export type CachingKind = "oplock" | "lease";

/** What one client may keep, and what it has been told to give up. */
export interface Caching {
  readonly kind: CachingKind;
  readonly state: number;
  /** While the client has not said that it has given up what it was told to. */
  readonly breaking: Breaking | null;
}

export interface Breaking {
  /** What it kept when it was first told. */
  readonly from: number;
  /** What the client was told to keep. */
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
export const READS: Intrusion = { leaves: KEEP_READ | KEEP_HANDLE, awaits: KEEP_WRITES };
/** Who looks at more than attributes is like a reader to oplocks, which are older than leases. */
export const LOOKS_AT_SECURITY: Intrusion = { ...READS, sparesLeases: true };
/** After a write nobody has the right bytes any more. */
export const WRITES: Intrusion = { leaves: KEEP_NOTHING, awaits: KEEP_WRITES };
/** A handle that is only kept is no reason to be refused. */
export const NEEDS_HANDLES: Intrusion = {
  leaves: KEEP_READ | KEEP_WRITES,
  awaits: KEEP_HANDLE,
};

/** Whether what an operation does leaves its own client to keep what it has. */
export function isSpared({ kind, state }: Caching, { leaves }: Intrusion): boolean {
  // Oplocks to read are many clients' at a time: a write ends them all.
  return kind === "lease" || state !== KEEP_READ || (leaves & KEEP_READ) !== 0;
}

/** Whether an operation must wait, or at least has something to tell the client. */
export function isInTheWay(caching: Caching, intrusion: Intrusion): boolean {
  if (intrusion.sparesLeases === true && caching.kind === "lease") return false;
  return awaitsBreak(caching, intrusion) || targetOf(caching, intrusion.leaves) !== goalOf(caching);
}

export function awaitsBreak({ state, breaking }: Caching, { awaits }: Intrusion): boolean {
  return ((breaking?.from ?? state) & awaits) !== 0;
}

/** A step that a client is told of. */
export interface BreakStep {
  readonly caching: Caching;
  /** Null if there is nothing new to tell. */
  readonly told: {
    readonly from: number;
    readonly to: number;
    readonly mustAnswer: boolean;
  } | null;
}

export function beginBreak(caching: Caching, { leaves }: Intrusion): BreakStep {
  const target = targetOf(caching, leaves);
  if (target === goalOf(caching)) return { caching, told: null };
  const { kind, state, breaking } = caching;
  if (breaking === null) return stepTo(kind, state, { from: state, to: target, target });
  const { from, to } = breaking;
  return { caching: { kind, state, breaking: { from, to, target } }, told: null };
}

/** What a client that answers gave up; whoever asked for more meanwhile has it told to go on. */
export function acknowledgeBreak(
  caching: Caching,
  state: number,
): BreakStep | "not-breaking" | "too-much" {
  const { kind, breaking } = caching;
  if (breaking === null) return "not-breaking";
  if ((state & ~breaking.to) !== 0) return "too-much";
  const target = state & breaking.target;
  if (target === state) return { caching: { kind, state, breaking: null }, told: null };
  // Handles are given up before what was read.
  const to = (state & KEEP_HANDLE) !== 0 ? target | KEEP_READ : target;
  return stepTo(kind, state, { from: breaking.from, to, target });
}

/** The client did not answer in time: nothing that it keeps counts any more. */
export function forceBreak({ kind }: Caching): Caching {
  return { kind, state: KEEP_NOTHING, breaking: null };
}

/** What was read is simply forgotten: there is nothing to wait for. */
function stepTo(kind: CachingKind, state: number, breaking: Breaking): BreakStep {
  const { to } = breaking;
  if (state === KEEP_READ) {
    const caching = { kind, state: to, breaking: null };
    return { caching, told: { from: state, to, mustAnswer: false } };
  }
  return { caching: { kind, state, breaking }, told: { from: state, to, mustAnswer: true } };
}

/** What is left in the end, if nobody asks for more. */
function goalOf({ state, breaking }: Caching): number {
  return breaking === null ? state : breaking.target;
}

function targetOf(caching: Caching, leaves: number): number {
  const goal = goalOf(caching);
  const target = goal & leaves;
  if (target === goal || caching.kind === "lease") return target;
  return target & KEEP_READ;
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
  if ((wanted & KEEP_READ) === 0 || wanted > KEEP_ALL || rivals.hasLocks) return KEEP_NOTHING;
  const { cachings } = rivals;
  const isLeaseHandle = ({ kind, state }: Caching) =>
    kind === "lease" && (state & KEEP_HANDLE) !== 0;
  if (kind === "oplock" && cachings.some(isLeaseHandle)) return KEEP_NOTHING;
  if (cachings.some(({ state }) => (state & KEEP_WRITES) !== 0)) return KEEP_NOTHING;
  let granted = wanted;
  if (rivals.areThere || cachings.length > 0) granted &= ~KEEP_WRITES;
  if (kind === "oplock") return (granted & KEEP_WRITES) !== 0 ? granted : KEEP_READ;
  const isOplock = (caching: Caching) => caching.kind === "oplock" && caching.state !== 0;
  return cachings.some(isOplock) ? granted & ~KEEP_HANDLE : granted;
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
