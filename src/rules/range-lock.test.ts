import assert from "node:assert/strict";
import { test } from "node:test";
import {
  isLockBlocked,
  isLockRange,
  judgeReadByLocks,
  judgeWriteByLocks,
  lockToEnd,
  type RangeLock,
} from "./range-lock.ts";

const LAST = 2n ** 64n - 1n;
const ME = 1n;
const OTHER = 2n;

function lock(owner: bigint, offset: number | bigint, length: number | bigint, kind: string) {
  const isExclusive = kind === "exclusive";
  return { owner, offset: BigInt(offset), length: BigInt(length), isExclusive };
}

/** Every range within six bytes, empty ones too. */
const RANGES = [0, 1, 2, 3, 4, 5, 6].flatMap((from) =>
  Array.from({ length: 7 - from }, (_, length) => ({ from, length })),
);

/** Compares byte by byte. A point lies between two bytes, and inside a range with both of them. */
function touch(one: { from: number; length: number }, other: { from: number; length: number }) {
  const halves = ({ from, length }: { from: number; length: number }) =>
    length === 0
      ? [from * 2]
      : Array.from({ length: length * 2 - 1 }, (_, half) => from * 2 + 1 + half);
  const found = new Set(halves(one));
  if (one.length === 0 && other.length === 0) return false;
  return halves(other).some((half) => found.has(half));
}

test("locks conflict where they touch and one is exclusive, tried on all ranges", () => {
  for (const held of RANGES) {
    for (const wanted of RANGES) {
      for (const kinds of [
        "shared shared",
        "shared exclusive",
        "exclusive shared",
        "exclusive exclusive",
      ]) {
        const [first, second] = kinds.split(" ") as [string, string];
        const expected = touch(held, wanted) && kinds !== "shared shared";
        const there = lock(OTHER, held.from, held.length, first);
        const asked = lock(ME, wanted.from, wanted.length, second);
        assert.equal(
          isLockBlocked([there], asked),
          expected,
          `${kinds} ${JSON.stringify({ held, wanted })}`,
        );
        const mine = lock(ME, held.from, held.length, first);
        const stacks = kinds === "exclusive shared";
        assert.equal(isLockBlocked([mine], asked), expected && !stacks, `mine: ${kinds}`);
      }
    }
  }
});

test("reads are blocked by the exclusive locks of others, writes by all but their own exclusive ones", () => {
  for (const held of RANGES) {
    for (const { from, length } of RANGES) {
      const hit = length > 0 && touch(held, { from, length });
      const cases = [
        { owner: OTHER, kind: "exclusive", read: hit, write: hit },
        { owner: OTHER, kind: "shared", read: false, write: hit },
        { owner: ME, kind: "exclusive", read: false, write: false },
        { owner: ME, kind: "shared", read: false, write: hit },
      ];
      for (const { owner, kind, read, write } of cases) {
        const locks = [lock(owner, held.from, held.length, kind)];
        const code = (refused: boolean) => (refused ? "FileLockConflict" : null);
        assert.equal(judgeReadByLocks(locks, ME, from, length), code(read));
        assert.equal(judgeWriteByLocks(locks, ME, from, length), code(write));
        // REST owns no lock, so every lock counts as another's.
        assert.equal(
          judgeReadByLocks(locks, null, from, length),
          code(hit && kind === "exclusive"),
        );
        assert.equal(judgeWriteByLocks(locks, null, from, length), code(hit));
      }
    }
  }
});

test("an empty range is read and written whatever is locked", () => {
  const locks = [lock(OTHER, 0, LAST, "exclusive")];
  assert.equal(judgeReadByLocks(locks, ME, 5, 0), null);
  assert.equal(judgeWriteByLocks(locks, ME, 5, 0), null);
});

test("a range ends with the last possible offset", () => {
  assert.ok(isLockRange(0n, LAST));
  assert.ok(isLockRange(1n, LAST));
  assert.ok(isLockRange(LAST, 1n));
  assert.ok(isLockRange(LAST, 0n));
  assert.ok(!isLockRange(LAST, 2n));
  assert.ok(!isLockRange(2n, LAST));
});

test("locks at the last offsets conflict like any others", () => {
  const last = lock(OTHER, LAST, 1, "exclusive");
  assert.ok(isLockBlocked([last], lock(ME, LAST, 1, "shared")));
  assert.ok(isLockBlocked([last], lock(ME, 1, LAST, "shared")));
  assert.ok(!isLockBlocked([last], lock(ME, 0, LAST, "shared")));
  assert.equal(judgeReadByLocks([last], ME, 0, Number.MAX_SAFE_INTEGER), null);
});

test("an unlock ends one lock of exactly its range and its handle, an exclusive one first", () => {
  const held: RangeLock[] = [
    lock(OTHER, 0, 10, "exclusive"),
    lock(ME, 0, 10, "shared"),
    lock(ME, 0, 10, "exclusive"),
    lock(ME, 0, 10, "shared"),
  ];
  const range = { owner: ME, offset: 0n, length: 10n };
  assert.equal(lockToEnd(held, range), 2);
  assert.equal(lockToEnd(held.slice(0, 2), range), 1);
  assert.equal(lockToEnd(held.slice(0, 1), range), -1);
  assert.equal(lockToEnd(held, { ...range, length: 9n }), -1);
  assert.equal(lockToEnd(held, { ...range, offset: 1n }), -1);
});
