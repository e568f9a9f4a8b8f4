import type { FaultCode } from "../base/fault.ts";

/** A locked range of a file. Offsets have 64 bits: programs lock far behind the end of files. */
export interface RangeLock {
  /** The handle that holds it. */
  readonly owner: bigint;
  readonly offset: bigint;
  /** A range of no bytes is a point between two of them, which only ranges around it touch. */
  readonly length: bigint;
  readonly isExclusive: boolean;
}

const OFFSETS_END = 1n << 64n;

/** A range must not reach beyond the last of all offsets. */
export function isLockRange(offset: bigint, length: bigint): boolean {
  return offset + length <= OFFSETS_END;
}

/**
 * Whether a lock must wait for, or is refused because of, one that is held. Exclusive locks go with
 * no other, not even of the same handle; but who holds one may lock the same bytes shared, too.
 */
export function isLockHeldBack(held: readonly RangeLock[], wanted: RangeLock): boolean {
  return held.some((lock) => {
    if (!lock.isExclusive && !wanted.isExclusive) return false;
    if (lock.owner === wanted.owner && lock.isExclusive && !wanted.isExclusive) return false;
    return overlap(lock.offset, lock.length, wanted.offset, wanted.length);
  });
}

/**
 * The lock that an unlock of exactly this range ends: an exclusive one before a shared one, or -1 if
 * the handle holds none.
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

/** Who reads respects the exclusive locks of others. `owner` is null over REST, which has no handle. */
export function judgeReadByLocks(
  held: readonly RangeLock[],
  owner: bigint | null,
  from: number,
  length: number,
): FaultCode | null {
  return touched(held, from, length, (lock) => lock.isExclusive && lock.owner !== owner);
}

/** Who writes respects every lock of others, and its own shared ones: they promise that nobody writes. */
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

/** A range of no bytes overlaps only what begins before and ends behind it. */
function overlap(offset: bigint, length: bigint, other: bigint, otherLength: bigint): boolean {
  return offset < other + otherLength && other < offset + length;
}
