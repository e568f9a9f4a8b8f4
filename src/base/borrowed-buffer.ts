import type { Body, Bytes } from "./bytes.ts";
import { MIB } from "./limits.ts";

/**
 * Who owns a buffer, and until when. Bytes on their way from the disk to a socket lie in buffers that
 * their owner uses again. The rules:
 *
 * - The owner hands a buffer out with `borrow`. It does not touch the bytes until `release`.
 * - The borrower reads the bytes, keeps no view of them beyond `release`, and calls `release` exactly
 *   once, also when it fails. A borrower that needs the bytes longer copies them (`copyAndRelease`).
 * - The borrower may write over the bytes only where `mayOverwrite` says so, for example to encrypt
 *   them in place.
 */
export interface BorrowedBuffer {
  /** The bytes, in order. */
  readonly parts: readonly Bytes[];
  /** Whether the borrower is the only reader of these bytes. */
  readonly mayOverwrite: boolean;
  release(): void;
}

/** Hands out a sequence of bytes once, in order. */
export interface BufferOwner {
  /**
   * The next bytes, about this many where the owner has a choice; null at the end. A caller waits for
   * one answer before it asks again, but may have several buffers at a time.
   */
  borrow(bytes: number): Promise<BorrowedBuffer | null>;
}

/** Bytes asked for at a time when a whole body is sent or stored: reads stay ahead of their use. */
const STEP_BYTES = 4 * MIB;

/** Bytes in memory that is not used again: `release` does nothing. */
export function unowned(parts: readonly Bytes[]): BorrowedBuffer {
  return { parts, mayOverwrite: false, release() {} };
}

/** Hands out bytes that are all in memory already, in one buffer. */
export class WholeBuffer implements BufferOwner {
  #parts: readonly Bytes[] | null;

  constructor(parts: readonly Bytes[]) {
    this.#parts = parts;
  }

  async borrow(): Promise<BorrowedBuffer | null> {
    const parts = this.#parts;
    this.#parts = null;
    return parts === null ? null : unowned(parts);
  }
}

/**
 * Calls `take` with one buffer after another and releases each when `take` is done; the next one is
 * borrowed meanwhile. Ends early if `take` returns or resolves with false.
 */
export async function eachBorrowed(
  owner: BufferOwner,
  take: (parts: readonly Bytes[]) => unknown,
): Promise<void> {
  let ahead = askAhead(owner);
  try {
    for (let borrowed = await ahead; borrowed !== null; borrowed = await ahead) {
      ahead = askAhead(owner);
      try {
        if ((await take(borrowed.parts)) === false) return;
      } finally {
        borrowed.release();
      }
    }
  } finally {
    // Releases a buffer that was borrowed ahead and is not needed.
    ahead.then((borrowed) => borrowed?.release()).catch(() => {});
  }
}

function askAhead(owner: BufferOwner): Promise<BorrowedBuffer | null> {
  const ahead = owner.borrow(STEP_BYTES);
  // It may fail before anybody awaits it.
  ahead.catch(() => {});
  return ahead;
}

/** All bytes of an owner, as a body to be stored. */
export function borrowedBody(length: number, owner: BufferOwner): Body {
  return { length, drain: (take) => drainBorrowed(owner, take) };
}

export function drainBorrowed(owner: BufferOwner, take: Take): Promise<void> {
  return eachBorrowed(owner, async (parts) => {
    for (const part of parts) await take(part);
  });
}

type Take = Parameters<Body["drain"]>[0];

/** Borrows everything that is left, as one buffer. */
export async function borrowWhole(owner: BufferOwner): Promise<BorrowedBuffer> {
  const buffers: BorrowedBuffer[] = [];
  try {
    for (;;) {
      const borrowed = await owner.borrow(Number.POSITIVE_INFINITY);
      if (borrowed === null) break;
      buffers.push(borrowed);
    }
  } catch (error) {
    joined(buffers).release();
    throw error;
  }
  return joined(buffers);
}

/** Joins buffers that were asked for at the same time. Releases all of them if one fails. */
export async function borrowTogether(
  asked: readonly Promise<BorrowedBuffer>[],
): Promise<BorrowedBuffer> {
  if (asked.length === 1) return asked[0] as Promise<BorrowedBuffer>;
  const results = await Promise.allSettled(asked);
  const buffers: BorrowedBuffer[] = [];
  for (const result of results) if (result.status === "fulfilled") buffers.push(result.value);
  const borrowed = joined(buffers);
  const broken = results.find((result) => result.status === "rejected");
  if (broken === undefined) return borrowed;
  borrowed.release();
  throw broken.reason;
}

function joined(buffers: readonly BorrowedBuffer[]): BorrowedBuffer {
  return {
    parts: buffers.flatMap(({ parts }) => parts),
    mayOverwrite: buffers.every(({ mayOverwrite }) => mayOverwrite),
    release() {
      for (const borrowed of buffers) borrowed.release();
    },
  };
}

/** Copies the bytes to memory of the caller's own, and releases the buffer. */
export function copyAndRelease({ parts, release }: BorrowedBuffer): Bytes {
  const bytes = Buffer.allocUnsafe(lengthOf(parts));
  copyParts(parts, bytes);
  release();
  return bytes;
}

export function lengthOf(parts: readonly Bytes[]): number {
  let length = 0;
  for (const part of parts) length += part.length;
  return length;
}

/** Copies bytes to the start of `into`, and returns how many they are. */
export function copyParts(parts: readonly Bytes[], into: Bytes): number {
  let at = 0;
  for (const part of parts) {
    // Three times as fast as `copy`, which copies word by word in shared memory.
    into.fill(part, at, at + part.length);
    at += part.length;
  }
  return at;
}
