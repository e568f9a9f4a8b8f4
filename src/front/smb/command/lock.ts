import type { FileChange } from "../../../service/file/file-changes.ts";
import { lockRanges, unlockRanges } from "../../../service/file/lock-ranges.ts";
import { afterCacheBreaks } from "../after-cache-breaks.ts";
import { type Answer, type Call, success } from "../call.ts";
import { ACCESS } from "../codec/access.ts";
import { writeEmpty } from "../codec/empty.ts";
import { LOCK_FLAG, type LockRange, readLock } from "../codec/lock.ts";
import type { FileOpen } from "../file-open.ts";
import { STATUS, StatusError } from "../nt-status.ts";

/** The slots for sequence numbers of LOCK requests. */
const SEQUENCE_PLACES = 64;

export async function handleLock(call: Call): Promise<Answer> {
  const { fileId, ranges, sequence } = readLock(call.message);
  const open = call.open(fileId);
  if (open.kind !== "file" || open.isDirectory) throw new StatusError(STATUS.INVALID_PARAMETER);
  open.expect(ACCESS.readData | ACCESS.writeData);
  if (isSentAgain(open, sequence)) return success(writeEmpty());
  const isUnlock = ((ranges[0]?.flags ?? 0) & LOCK_FLAG.unlock) !== 0;
  if (isUnlock) await unlock(call, open, ranges);
  else await lock(call, open, ranges);
  if (isNumbered(open, sequence)) open.lockSequences.set(sequence >>> 4, sequence & 15);
  return success(writeEmpty());
}

/** Whether a LOCK has a sequence number: only durable opens use them. */
function isNumbered({ durability }: FileOpen, sequence: number): boolean {
  const place = sequence >>> 4;
  return durability !== null && place >= 1 && place <= SEQUENCE_PLACES;
}

/** Whether a LOCK was sent before and its response lost; another number frees the slot. */
function isSentAgain(open: FileOpen, sequence: number): boolean {
  if (!isNumbered(open, sequence)) return false;
  const place = sequence >>> 4;
  if (open.lockSequences.get(place) === (sequence & 15)) return true;
  open.lockSequences.delete(place);
  return false;
}

async function unlock({ host }: Call, open: FileOpen, ranges: readonly LockRange[]): Promise<void> {
  const wrong = ranges.findIndex(({ flags }) => flags !== LOCK_FLAG.unlock);
  // Ranges before a malformed one are unlocked nevertheless.
  const sensible = wrong < 0 ? ranges : ranges.slice(0, wrong);
  const isDone = await unlockRanges(host.files, { ...open.asked, ranges: sensible });
  if (!isDone) throw new StatusError(STATUS.RANGE_NOT_LOCKED);
  if (wrong >= 0) throw new StatusError(STATUS.INVALID_PARAMETER);
}

async function lock(call: Call, open: FileOpen, asked: readonly LockRange[]): Promise<void> {
  const isImmediate = requireValidFlags(asked);
  const ranges = asked.map(({ offset, length, flags }) => {
    return { offset, length, isExclusive: (flags & LOCK_FLAG.exclusive) !== 0 };
  });
  const wanted = { ...open.asked, ranges };
  const attempt = () => afterCacheBreaks(call, () => lockRanges(call.host.files, wanted));
  let outcome = await attempt();
  while (outcome === "blocked") {
    if (isImmediate) throw new StatusError(STATUS.LOCK_NOT_GRANTED);
    const cancelled = call.pend();
    const unlocked = nextUnlock(call, open, [cancelled, open.ending]);
    await call.host.files.store.heard(open.share);
    outcome = await attempt();
    if (outcome !== "blocked") break;
    await unlocked;
    if (open.ending.aborted) throw new StatusError(STATUS.RANGE_NOT_LOCKED);
    if (cancelled.aborted) throw new StatusError(STATUS.CANCELLED);
  }
  if (outcome === "beyond") throw new StatusError(STATUS.INVALID_LOCK_RANGE);
  if (outcome === "too-many") throw new StatusError(STATUS.INSUFFICIENT_RESOURCES);
}

/**
 * Resolves when a lock is released or a handle closed on the file, or a signal is aborted. Call it
 * before trying the lock, so that no event is missed in between.
 */
function nextUnlock(
  { host }: Call,
  { asked, share }: FileOpen,
  signals: readonly AbortSignal[],
): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      stop();
      for (const signal of signals) signal.removeEventListener("abort", done);
      resolve();
    };
    const stop = host.files.store.watch(share, (changes) => {
      if (changes.some((change) => mayLetIn(change, asked.item))) done();
    });
    for (const signal of signals) {
      if (signal.aborted) done();
      else signal.addEventListener("abort", done);
    }
  });
}

function mayLetIn(change: FileChange, item: bigint): boolean {
  if (change.kind === "shareRemoved") return true;
  return (change.kind === "unlocked" || change.kind === "closed") && change.id === item;
}

/** Whether the client prefers a refusal to waiting. Throws for several locks that would wait. */
function requireValidFlags(ranges: readonly LockRange[]): boolean {
  const kinds = ranges.map(({ flags }) => flags & ~LOCK_FLAG.failImmediately);
  const isKnown = kinds.every((kind) => kind === LOCK_FLAG.shared || kind === LOCK_FLAG.exclusive);
  const isImmediate = ranges.every(({ flags }) => (flags & LOCK_FLAG.failImmediately) !== 0);
  if (!isKnown || (ranges.length > 1 && !isImmediate)) {
    throw new StatusError(STATUS.INVALID_PARAMETER);
  }
  return isImmediate;
}
