import { Fault } from "../../base/fault.ts";
import { FILE_LOCKS_MAX } from "../../base/limits.ts";
import { WRITES } from "../../rules/caching.ts";
import { isLockBlocked, isLockRange, lockToEnd, type RangeLock } from "../../rules/range-lock.ts";
import type { Transaction, View } from "../../store/store.ts";
import { admitToHandle, type HandleAsked, type InHandle } from "./admit-handle.ts";
import { requireCachesBroken } from "./caches.ts";
import type { FileContext } from "./context.ts";
import { type HandleId, notePersistent, readLocks, writeLock, writeOpens } from "./open-records.ts";

type Range = Pick<RangeLock, "offset" | "length">;

export interface LockRanges extends HandleAsked {
  readonly ranges: readonly (Range & { readonly isExclusive: boolean })[];
}

/** The client may retry a "blocked" lock once others have unlocked or closed. */
export type LockOutcome = "granted" | "blocked" | "too-many" | "beyond";

/** Locks all ranges or none. */
export async function lockRanges(context: FileContext, asked: LockRanges): Promise<LockOutcome> {
  if (!asked.ranges.every(({ offset, length }) => isLockRange(offset, length))) return "beyond";
  return context.store.transact((tx) => {
    const admitted = admitToFileHandle(tx, asked);
    const { item, opens, handle } = admitted;
    requireCachesBroken(tx, item, opens, handle.cache, WRITES);
    const locks = opens.locks + asked.ranges.length;
    if (locks > FILE_LOCKS_MAX) return "too-many";
    const held: RangeLock[] = readLocks(tx, item, opens.locks);
    for (const { offset, length, isExclusive } of asked.ranges) {
      const wanted = { owner: asked.handle, offset, length, isExclusive };
      if (isLockBlocked(held, wanted)) return "blocked";
      held.push(wanted);
    }
    for (const lock of held.slice(opens.locks)) writeLock(tx, item, lock);
    writeLockCount(tx, admitted, asked.handle, locks);
    return "granted";
  });
}

export interface UnlockRanges extends HandleAsked {
  readonly ranges: readonly Range[];
}

/** Unlocks one range after another. False at the first that the handle has not locked. */
export async function unlockRanges(context: FileContext, asked: UnlockRanges): Promise<boolean> {
  return context.store.transact((tx) => {
    const admitted = admitToFileHandle(tx, asked);
    const { item, opens } = admitted;
    const held = readLocks(tx, item, opens.locks, asked.handle);
    let ended = 0;
    for (const { offset, length } of asked.ranges) {
      const found = lockToEnd(held, { owner: asked.handle, offset, length });
      const [lock] = found < 0 ? [] : held.splice(found, 1);
      if (lock === undefined) break;
      tx.delete(lock.place);
      ended++;
    }
    writeLockCount(tx, admitted, asked.handle, opens.locks - ended);
    return ended === asked.ranges.length;
  });
}

function admitToFileHandle(view: View, asked: HandleAsked): InHandle {
  const admitted = admitToHandle(view, asked);
  if (admitted.handle.isDirectory) throw new Fault("ResourceTypeMismatch");
  return admitted;
}

function writeLockCount(tx: Transaction, admitted: InHandle, id: HandleId, locks: number): void {
  const { item, handle, opens } = admitted;
  const { modes, isDeletePending, caches } = opens;
  writeOpens(tx, item, { modes, locks, isDeletePending, caches });
  notePersistent(tx, item, id, handle);
}
