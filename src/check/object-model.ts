import type { HistoryOperation } from "./history-file.ts";
import type { Model } from "./linearize.ts";

/** A blob or entity, as far as answers have shown it. */
export interface ObjectState {
  /** Null if nobody knows: the recording began when something was stored already. */
  readonly isThere: boolean | null;
  /** Null if no answer has told. */
  readonly etag: string | null;
  /** The ETag before a write whose own is unknown: no ETag is given twice. Null if it is known. */
  readonly formerEtag: string | null;
  readonly value: string | null;
  readonly lease: HeldLease | null;
}

/** When a lease ends is known as well as when it began: while its request ran. */
interface HeldLease {
  /** Null if nobody knows: it binds nobody. */
  readonly id: string | null;
  /** Null for never. */
  readonly endsFromMs: number | null;
  readonly endsUntilMs: number | null;
}

const UNKNOWN_LEASE: HeldLease = { id: null, endsFromMs: null, endsUntilMs: null };
const NO_CONTENT = { etag: null, formerEtag: null, value: null };
const UNKNOWN: ObjectState = { isThere: null, ...NO_CONTENT, lease: UNKNOWN_LEASE };
const GONE: ObjectState = { isThere: false, ...NO_CONTENT, lease: null };

const LEASE_CODES = ["LeaseIdMissing", "LeaseIdMismatchWithBlobOperation"];
const NO_LEASE_CODES = ["LeaseLost", "LeaseNotPresentWithBlobOperation"];

/**
 * One blob or entity with ETags and a lease. What no answer has shown is free: the model only
 * objects where answers contradict each other.
 */
export const OBJECT_MODEL: Model<ObjectState, HistoryOperation, HistoryOperation> = {
  initial: UNKNOWN,
  steps(state, { asked, answer }) {
    // Without an answer it may have happened. If so, its ETag is unknown.
    if (answer === null) return done(state, { ...asked, etag: null });
    return (answer.status ?? 0) >= 300 ? refused(state, answer) : done(state, answer);
  },
  identify: (state) => JSON.stringify(state),
};

function done(state: ObjectState, one: HistoryOperation): readonly ObjectState[] {
  const { verb } = one;
  const seen = verb === "put" ? state : pinned(state, one);
  if (seen === null || !conditionsHold(seen, one) || !mayPass(seen, one)) return [];
  const { etag = null, value = null } = one;
  switch (verb) {
    case "get":
      return [seen];
    case "put":
    case "change":
      return [{ isThere: true, etag, formerEtag: formerOf(seen, etag), value, lease: seen.lease }];
    case "delete":
      return [GONE];
    default:
      return leased(seen, one);
  }
}

function formerOf(before: ObjectState, etag: string | null): string | null {
  return etag === null ? (before.etag ?? before.formerEtag) : null;
}

/** What an answer shows of the object itself; null if that contradicts what is known. */
function pinned(state: ObjectState, { verb, etag = null, value = null }: HistoryOperation) {
  if (state.isThere === false) return null;
  // The answers to reads and leases tell the present ETag; those to changes the next one.
  if (verb === "change" || verb === "delete")
    return state.isThere ? state : { ...state, isThere: true };
  const isSame = (known: string | null, shown: string | null) =>
    known === null || shown === null || known === shown;
  if (!isSame(state.etag, etag) || !isSame(state.value, value)) return null;
  if (etag !== null && etag === state.formerEtag) return null;
  const known = {
    etag: state.etag ?? etag,
    formerEtag: etag === null ? state.formerEtag : null,
    value: state.value ?? value,
  };
  const isNew = state.isThere === null || known.etag !== state.etag || known.value !== state.value;
  return isNew ? { ...state, isThere: true, ...known } : state;
}

function conditionsHold(state: ObjectState, { ifMatch, ifNoneMatch }: HistoryOperation): boolean {
  if (ifMatch && matches(state, ifMatch) === false) return false;
  return !(ifNoneMatch && matches(state, ifNoneMatch) === true);
}

/** Null if nobody knows. */
function matches({ isThere, etag }: ObjectState, condition: string): boolean | null {
  if (isThere === false) return false;
  if (condition === "*") return isThere;
  return etag === null ? null : etag === condition;
}

/** Whether the lease lets an operation pass at some moment while it ran. */
function mayPass(
  { lease }: ObjectState,
  { verb, leaseId = null, fromMs, toMs }: HistoryOperation,
): boolean {
  if (!["put", "change", "delete"].includes(verb)) return true;
  if (lease === null) return leaseId === null;
  if (lease.id === null) return true;
  if (leaseId === null) return mayHaveEnded(lease, toMs);
  return lease.id === leaseId && mayBeActive(lease, fromMs);
}

function mayHaveEnded({ endsFromMs }: HeldLease, toMs: number | undefined): boolean {
  return endsFromMs !== null && (toMs === undefined || toMs >= endsFromMs);
}

function mayBeActive({ endsUntilMs }: HeldLease, fromMs: number | undefined): boolean {
  return endsUntilMs === null || fromMs === undefined || fromMs < endsUntilMs;
}

/** The states after a lease operation that was done. */
function leased(state: ObjectState, one: HistoryOperation): readonly ObjectState[] {
  const { verb, leaseId = null, toMs } = one;
  const { lease } = state;
  const isHolder = lease === null || lease.id === null || lease.id === leaseId;
  switch (verb) {
    case "acquire":
      if (!isHolder && !mayHaveEnded(lease as HeldLease, toMs)) return [];
      return [{ ...state, lease: newLease(one) }];
    case "renew":
      return isHolder ? [{ ...state, lease: renewed(lease, one) }] : [];
    case "changeLease":
      return [{ ...state, lease: { ...(lease ?? UNKNOWN_LEASE), id: leaseId } }];
    case "release":
      return isHolder ? [{ ...state, lease: null }] : [];
    default:
      // Only the server knows when a broken lease ends.
      return [{ ...state, lease: lease === null ? null : UNKNOWN_LEASE }];
  }
}

function newLease({
  leaseId = null,
  leaseSeconds = null,
  fromMs,
  toMs,
}: HistoryOperation): HeldLease {
  if (leaseSeconds === null || fromMs === undefined || toMs === undefined) return UNKNOWN_LEASE;
  if (leaseSeconds < 0) return { id: leaseId, endsFromMs: null, endsUntilMs: null };
  const ms = leaseSeconds * 1_000;
  return { id: leaseId, endsFromMs: fromMs + ms, endsUntilMs: toMs + ms };
}

/** A renewal has the length of the lease, which its request does not tell. */
function renewed(lease: HeldLease | null, one: HistoryOperation): HeldLease {
  if (one.leaseSeconds !== undefined && one.leaseSeconds !== null) return newLease(one);
  return lease?.endsFromMs === null && lease.id !== null ? lease : UNKNOWN_LEASE;
}

/** A refusal changes nothing, and must have a reason. */
function refused(state: ObjectState, one: HistoryOperation): readonly ObjectState[] {
  const { status, code = "" } = one;
  if (status === 404) return state.isThere === true ? [] : [state.isThere === null ? GONE : state];
  if (status === 304) return isRefusedByEtag(state, one) ? [state] : [];
  if (status === 409 && /AlreadyExists$/.test(code ?? ""))
    return state.isThere === false ? [] : [state];
  if (status !== 412 && status !== 409) return [state];
  if (LEASE_CODES.includes(code ?? "") || code === "LeaseAlreadyPresent") {
    return isRefusedByLease(state, one) ? [state] : [];
  }
  if (NO_LEASE_CODES.includes(code ?? "")) {
    const { lease } = state;
    return lease === null || lease.id === null || mayHaveEnded(lease, one.toMs) ? [state] : [];
  }
  if (status !== 412) return [state];
  return isRefusedByEtag(state, one) ? [state] : [];
}

function isRefusedByEtag(state: ObjectState, { ifMatch, ifNoneMatch }: HistoryOperation): boolean {
  if (!ifMatch && !ifNoneMatch) return true;
  if (ifMatch && matches(state, ifMatch) !== true) return true;
  return Boolean(ifNoneMatch) && matches(state, ifNoneMatch ?? "") !== false;
}

function isRefusedByLease({ lease }: ObjectState, one: HistoryOperation): boolean {
  if (lease === null || (lease.id !== null && lease.id === one.leaseId)) return false;
  return lease.id === null || mayBeActive(lease, one.fromMs);
}
