import type { FaultCode } from "../base/fault.ts";

/**
 * A locked range of a file. Offsets have 64 bits, because programs lock far beyond the end of
 * files.
 */
export interface RangeLock {
  /** The handle that has the lock. */
  readonly owner: bigint;
  readonly offset: bigint;
  /** An empty range is a point between two bytes, which only ranges around it touch. */
  readonly length: bigint;
  readonly isExclusive: boolean;
}

const OFFSETS_END = 1n << 64n;

/** A range must not exceed the last possible offset. */
export function isLockRange(offset: bigint, length: bigint): boolean {
  return offset + length <= OFFSETS_END;
}

/**
 * Whether a lock conflicts with existing ones. An exclusive lock conflicts with every other, even
 * of the same handle; but its owner may also lock the same bytes shared.
 */
export function isLockBlocked(held: readonly RangeLock[], wanted: RangeLock): boolean {
  return held.some((lock) => {
    if (!lock.isExclusive && !wanted.isExclusive) return false;
    if (lock.owner === wanted.owner && lock.isExclusive && !wanted.isExclusive) return false;
    return overlap(lock.offset, lock.length, wanted.offset, wanted.length);
  });
}

/**
 * The index of the lock that an unlock of exactly this range ends: an exclusive one before a shared
 * one; -1 if the handle has none.
 */
export function lockToEnd(
  held: readonly RangeLock[],
  { owner, offset, length }: Pick<RangeLock, "owner" | "offset" | "length">,
): number {
  const ends = (lock: RangeLock) =>
    lock.owner === owner && lock.offset === offset && lock.length === length;
  const exclusive = held.findIndex((lock) => lock.isExclusive && ends(lock));
  return exclusive >= 0 ? exclusive : held.findIndex(ends);
}

/**
 * A read is refused by the exclusive locks of others. `owner` is null over REST, which has no
 * handle.
 */
export function judgeReadByLocks(
  held: readonly RangeLock[],
  owner: bigint | null,
  from: number,
  length: number,
): FaultCode | null {
  return touched(held, from, length, (lock) => lock.isExclusive && lock.owner !== owner);
}

/**
 * A write is refused by every lock of others, and by its own shared locks, which promise no writes.
 */
export function judgeWriteByLocks(
  held: readonly RangeLock[],
  owner: bigint | null,
  from: number,
  length: number,
): FaultCode | null {
  return touched(held, from, length, (lock) => !lock.isExclusive || lock.owner !== owner);
}

function touched(
  held: readonly RangeLock[],
  from: number,
  length: number,
  counts: (lock: RangeLock) => boolean,
): FaultCode | null {
  if (held.length === 0 || length === 0) return null;
  const [offset, bytes] = [BigInt(from), BigInt(length)];
  const isHit = held.some(
    (lock) => counts(lock) && overlap(lock.offset, lock.length, offset, bytes),
  );
  return isHit ? "FileLockConflict" : null;
}

/** An empty range overlaps only ranges that begin before it and end after it. */
function overlap(offset: bigint, length: bigint, other: bigint, otherLength: bigint): boolean {
  return offset < other + otherLength && other < offset + length;
}
