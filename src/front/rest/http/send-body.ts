import {
  type BorrowedBuffer,
  eachBorrowed,
  lengthOf,
  WholeBuffer,
} from "../../../base/borrowed-buffer.ts";
import type { Bytes } from "../../../base/bytes.ts";
import { KIB } from "../../../base/limits.ts";
import type { SendBudget, Share } from "../../send-budget.ts";
import type { ResponseStream } from "./exchange.ts";
import type { SliceQuota } from "./slice-quota.ts";
import type { Wire } from "./wire.ts";

/** Bytes in one write. A few such writes take less than a millisecond of the event loop. */
export const SLICE_BYTES_MAX = 512 * KIB;

/** The memory and the time that all long answers of a server share. */
export interface SendLimits {
  readonly budget: SendBudget;
  readonly slices: SliceQuota;
}

/** Follows a body that is being sent. */
export interface Sending {
  /** Sends the head; called when the first bytes of the body are there. */
  begin(): void;
  /** The system has taken these bytes. */
  sent(bytes: number): void;
}

/**
 * Sends a body in slices, no faster than the client takes them, and with no more in memory than the
 * budget grants. If the body fails before its first bytes, nothing is sent. If it fails later, the
 * connection is cut.
 */
export async function sendBody(
  wire: Wire,
  body: Bytes | ResponseStream,
  { budget, slices }: SendLimits,
  sending: Sending,
): Promise<void> {
  const { socket } = wire;
  let hasBegun = false;
  const beginOnce = (): void => {
    if (!hasBegun && !socket.destroyed) sending.begin();
    hasBegun = true;
  };
  let wake = (): void => {};
  const woken = (): void => wake();
  socket.on("close", woken);
  let left = body.length;
  const take = async (parts: readonly Bytes[]): Promise<boolean> => {
    left -= lengthOf(parts);
    if (left < 0) return false;
    beginOnce();
    for (const slice of slicesOf(parts)) {
      const wait = slices.take();
      if (wait !== undefined) await wait;
      if (socket.destroyed) return false;
      await new Promise<void>((resolve) => {
        wake = resolve;
        wire.sendParts(slice, woken);
      });
      if (!socket.destroyed) sending.sent(lengthOf(slice));
    }
    return !socket.destroyed;
  };
  try {
    if (Buffer.isBuffer(body)) await eachBorrowed(new WholeBuffer([body]), take);
    else if (body.isAtHand === true) await eachBorrowed(body, take);
    else await eachShare(body, budget, "encrypted" in socket, take);
    if (left !== 0 && !socket.destroyed) {
      throw new Error(`the parts of a body do not add up to ${body.length} bytes`);
    }
    beginOnce();
  } catch (error) {
    if (hasBegun) socket.destroy();
    throw error;
  } finally {
    socket.off("close", woken);
  }
}

/** A borrowed buffer with the share of the budget that pays for it. */
interface Borrowed {
  readonly borrowed: BorrowedBuffer | null;
  readonly share: Share;
}

/**
 * Borrows one buffer after the other, each as large as its share of the budget. If the budget has
 * plenty left, the next one is read while one is sent.
 */
async function eachShare(
  body: ResponseStream,
  budget: SendBudget,
  isSecure: boolean,
  take: (parts: readonly Bytes[]) => Promise<boolean>,
): Promise<void> {
  let left = body.length;
  let ahead: Promise<Borrowed> | null = null;
  const next = async () => borrow(body, await budget.share(Math.max(left, 1), isSecure));
  try {
    for (;;) {
      const { borrowed, share } = await (ahead ?? next());
      ahead = null;
      if (borrowed === null) {
        share.release();
        return;
      }
      left -= lengthOf(borrowed.parts);
      const more = left > 0 ? budget.tryLarge(left, isSecure) : null;
      if (more !== null) ahead = borrow(body, more);
      try {
        if (!(await take(borrowed.parts))) return;
      } finally {
        release({ borrowed, share });
      }
    }
  } finally {
    // Releases bytes that were read ahead and will not be sent.
    ahead?.then(release).catch(() => {});
  }
}

function borrow(body: ResponseStream, share: Share): Promise<Borrowed> {
  const borrowed = body.borrow(share.bytes).then(
    (borrowed) => ({ borrowed, share }),
    (error) => {
      share.release();
      throw error;
    },
  );
  // It may reject before anybody awaits it.
  borrowed.catch(() => {});
  return borrowed;
}

function release({ borrowed, share }: Borrowed): void {
  borrowed?.release();
  share.release();
}

/** Joins and cuts the parts into as few slices as possible. */
function* slicesOf(parts: readonly Bytes[]): Iterable<readonly Bytes[]> {
  let slice: Bytes[] = [];
  let room = SLICE_BYTES_MAX;
  for (const part of parts) {
    for (let at = 0; at < part.length; ) {
      const isWhole = at === 0 && part.length <= room;
      const bytes = isWhole ? part : part.subarray(at, at + room);
      at += bytes.length;
      room -= bytes.length;
      slice.push(bytes);
      if (room > 0) continue;
      yield slice;
      slice = [];
      room = SLICE_BYTES_MAX;
    }
  }
  if (slice.length > 0) yield slice;
}
