import type { HistoryOperation, HistoryRange, HistoryUse } from "./history-file.ts";
import type { Model } from "./linearize.ts";

/** A file with the SMB handles that are open on it. */
export interface FileState {
  /** Null if nobody knows: the recording began when something was stored already. */
  readonly isThere: boolean | null;
  /** Null if no answer has told; SMB tells none. */
  readonly etag: string | null;
  /** By handle. */
  readonly opens: Readonly<Record<string, HeldOpen>>;
  readonly locks: readonly HeldLock[];
}

interface HeldOpen {
  readonly access: readonly HistoryUse[];
  /** What others may do meanwhile. */
  readonly share: readonly HistoryUse[];
}

interface HeldLock {
  readonly handle: string;
  readonly range: HistoryRange;
  readonly isExclusive: boolean;
}

const ALL_USES: readonly HistoryUse[] = ["read", "write", "delete"];
const WHOLE: HistoryRange = [0, Number.MAX_SAFE_INTEGER];

/** What each operation over REST needs: it is an open that ends at once and denies nothing. */
const REST_ACCESS: Readonly<Record<string, readonly HistoryUse[]>> = {
  put: ["write", "delete"],
  change: ["write"],
  get: ["read"],
  delete: ["delete"],
};

const SHARING_CODES = ["SharingViolation", "STATUS_SHARING_VIOLATION"];
const LOCK_CODES = ["FileLockConflict", "STATUS_FILE_LOCK_CONFLICT", "STATUS_LOCK_NOT_GRANTED"];

/**
 * One file at two doors. Share modes and byte-range locks of SMB handles bind REST and each other;
 * a handle that is open when the history begins must be in it.
 */
export const FILE_MODEL: Model<FileState, HistoryOperation, HistoryOperation> = {
  initial: { isThere: null, etag: null, opens: {}, locks: [] },
  steps(state, { asked, answer }) {
    // Without an answer it may have happened. If so, its ETag is unknown.
    if (answer === null) return done(state, { ...asked, etag: null });
    return (answer.status ?? 0) >= 300 ? refused(state, answer) : done(state, answer);
  },
  identify: ({ isThere, etag, opens, locks }) =>
    JSON.stringify([isThere, etag, Object.entries(opens).sort(), locks]),
};

function done(state: FileState, one: HistoryOperation): readonly FileState[] {
  const { verb, etag = null } = one;
  if (isRefusedBySharing(state, one) || isRefusedByLocks(state, one)) return [];
  switch (verb) {
    case "put":
      return [{ ...state, isThere: true, etag }];
    case "change":
      return state.isThere === false ? [] : [{ ...state, isThere: true, etag }];
    case "get":
      return seen(state, etag);
    case "delete":
      return state.isThere === false ? [] : [{ ...state, isThere: false, etag: null }];
    default:
      return handled(state, one);
  }
}

/** What an answer shows of the file; none if that contradicts what is known. */
function seen(state: FileState, etag: string | null): readonly FileState[] {
  if (state.isThere === false) return [];
  if (state.etag !== null && etag !== null && state.etag !== etag) return [];
  const known = state.etag ?? etag;
  return state.isThere && known === state.etag
    ? [state]
    : [{ ...state, isThere: true, etag: known }];
}

/** The states after an operation on a handle that was done. */
function handled(state: FileState, one: HistoryOperation): readonly FileState[] {
  const { verb, access = [], share = [], range = WHOLE, isExclusive = true } = one;
  const handle = one.handle ?? "";
  const { opens, locks } = state;
  if (verb === "open") {
    // It may create the file.
    return [{ ...state, isThere: true, opens: { ...opens, [handle]: { access, share } } }];
  }
  if (opens[handle] === undefined) return [];
  switch (verb) {
    case "close": {
      const { [handle]: _, ...others } = opens;
      const left = locks.filter((lock) => lock.handle !== handle);
      // Closing a handle that has written may change the ETag once more.
      return [{ ...state, etag: null, opens: others, locks: left }];
    }
    case "lock":
      return [{ ...state, locks: [...locks, { handle, range, isExclusive }] }];
    default: {
      const at = locks.findIndex((lock) => lock.handle === handle && isSame(lock.range, range));
      return at < 0 ? [] : [{ ...state, locks: locks.toSpliced(at, 1) }];
    }
  }
}

/** A refusal changes nothing, and must have a reason. */
function refused(state: FileState, one: HistoryOperation): readonly FileState[] {
  const { status, code } = one;
  if (status === 404) {
    if (state.isThere === null) return [{ ...state, isThere: false }];
    return state.isThere ? [] : [state];
  }
  if (SHARING_CODES.includes(code ?? "")) return isRefusedBySharing(state, one) ? [state] : [];
  if (LOCK_CODES.includes(code ?? "")) return isRefusedByLocks(state, one) ? [state] : [];
  return [state];
}

function isRefusedBySharing({ opens }: FileState, one: HistoryOperation): boolean {
  const { verb, handle = null } = one;
  const others = Object.values(opens);
  if (verb === "open") {
    const { access = [], share = [] } = one;
    return others.some((other) => excludes(other, { access, share }));
  }
  // A handle was judged when it was opened.
  if (handle !== null) return false;
  if (verb === "delete" && others.length > 0) return true;
  const access = REST_ACCESS[verb] ?? [];
  return others.some((other) => excludes(other, { access, share: ALL_USES }));
}

/** Handles that may only see attributes conflict with nothing. */
function excludes(one: HeldOpen, other: HeldOpen): boolean {
  if (one.access.length === 0 || other.access.length === 0) return false;
  const isPermitted = (access: HeldOpen["access"], share: HeldOpen["share"]) =>
    access.every((use) => share.includes(use));
  return !isPermitted(one.access, other.share) || !isPermitted(other.access, one.share);
}

function isRefusedByLocks({ locks }: FileState, one: HistoryOperation): boolean {
  const { verb, handle = null, range = WHOLE, isExclusive = true } = one;
  return locks.some((lock) => overlap(lock.range, range) && binds(lock));

  function binds(lock: HeldLock): boolean {
    const isOwn = lock.handle === handle;
    switch (verb) {
      case "get":
        return lock.isExclusive && !isOwn;
      case "put":
      case "change":
        // Its own shared locks promise no writes.
        return !isOwn || !lock.isExclusive;
      case "lock":
        return (lock.isExclusive && !(isOwn && !isExclusive)) || (isExclusive && !lock.isExclusive);
      default:
        return false;
    }
  }
}

function overlap([from, length]: HistoryRange, [other, otherLength]: HistoryRange): boolean {
  return from < other + otherLength && other < from + length;
}

function isSame([from, length]: HistoryRange, [other, otherLength]: HistoryRange): boolean {
  return from === other && length === otherLength;
}
