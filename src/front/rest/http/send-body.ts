import type { Socket } from "node:net";
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
import { SendTurns } from "./send-turns.ts";

/** Written at one go: few of them take less than a millisecond of the event loop. */
export const SLICE_BYTES_MAX = 512 * KIB;

const turns = new SendTurns();

/**
 * Hands over one slice after the other, no faster than the client takes them, and with no more in memory than
 * the budget has for it. `begin` sends the head, as soon as the first bytes are there. If the body breaks before, nothing
 * was sent; if it breaks later, the connection is cut.
 */
export async function sendBody(
  output: Socket,
  body: Bytes | ResponseStream,
  budget: SendBudget,
  begin: () => void,
): Promise<void> {
  let hasBegun = false;
  const beginOnce = (): void => {
    if (!hasBegun && !output.destroyed) begin();
    hasBegun = true;
  };
  let wake = (): void => {};
  const woken = (): void => wake();
  output.on("close", woken);
  let left = body.length;
  const take = async (parts: readonly Bytes[]): Promise<boolean> => {
    left -= lengthOf(parts);
    if (left < 0) return false;
    beginOnce();
    for (const slice of slicesOf(parts)) {
      const turn = turns.next();
      if (turn !== undefined) await turn;
      if (output.destroyed) return false;
      await new Promise<void>((resolve) => {
        wake = resolve;
        writeTogether(output, slice, woken);
      });
    }
    return !output.destroyed;
  };
  try {
    if (Buffer.isBuffer(body)) await eachBorrowed(new WholeBuffer([body]), take);
    else if (body.isAtHand === true) await eachBorrowed(body, take);
    else await eachShare(body, budget, "encrypted" in output, take);
    if (left !== 0 && !output.destroyed) {
      throw new Error(`the parts of a body do not add up to ${body.length} bytes`);
    }
    beginOnce();
  } catch (error) {
    if (hasBegun) output.destroy();
    throw error;
  } finally {
    output.off("close", woken);
  }
}

/** What was lent, together with the memory that it may take. */
interface Borrowed {
  readonly borrowed: BorrowedBuffer | null;
  readonly share: Share;
}

/**
 * Shows one loan after the other, each as large as its share of the budget. The next one is read meanwhile if
 * there is plenty.
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
    // What was read in vain.
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
  // It may break before anybody waits for it.
  borrowed.catch(() => {});
  return borrowed;
}

function release({ borrowed, share }: Borrowed): void {
  borrowed?.release();
  share.release();
}

function writeTogether(output: Socket, parts: readonly Bytes[], done: () => void): void {
  output.cork();
  const last = parts.length - 1;
  for (let index = 0; index < last; index++) output.write(parts[index] as Bytes);
  output.write(parts[last] as Bytes, done);
  output.uncork();
}

/** The same bytes, in as few slices as may be. */
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
