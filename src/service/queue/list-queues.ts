import type { Bytes } from "../../base/bytes.ts";
import { fairQueue } from "../../base/fair-queue.ts";
import { refuse } from "../../base/fault.ts";
import { keyAfter, keyOfTextPrefix, SPACE } from "../../base/keys.ts";
import { type Access, judgeByAccess } from "../../rules/access.ts";
import { QUEUE_NEEDS } from "../../rules/queue-needs.ts";
import type { View } from "../../store/store.ts";
import { readRangePage } from "../shared/range-page.ts";
import type { QueueContext } from "./context.ts";
import { type Queue, queueKey, queueOfEntry } from "./records.ts";

export interface ListQueues {
  readonly account: string;
  readonly access: Access;
  readonly prefix: string;
  /** The last name of the list before; "" to begin with the first. */
  readonly after: string;
  readonly resultsMax: number;
}

/** A part of the answer, in order. */
export interface ListedQueues {
  readonly queues: readonly ListedQueue[];
  /** Whether more follow behind the last of them. */
  readonly hasMore: boolean;
}

export interface ListedQueue {
  readonly name: string;
  readonly queue: Queue;
}

/** A long list is several bodies: each sees one state, and no writer waits for them. */
const BODY_ITEMS_MAX = 1_000;

/** Page by page, so that no more than one of them has to be kept. There is always a first. */
export async function* listQueues(
  context: QueueContext,
  asked: ListQueues,
): AsyncGenerator<ListedQueues> {
  let left = asked.resultsMax;
  let after = asked.after;
  for (;;) {
    const [behind, room] = [after, Math.min(left, BODY_ITEMS_MAX)];
    await fairQueue.next();
    const page = await context.store.read((view) => listPage(view, asked, behind, room));
    yield page;
    left -= page.queues.length;
    after = page.queues.at(-1)?.name ?? after;
    if (!page.hasMore || left <= 0) return;
  }
}

function listPage(view: View, asked: ListQueues, after: string, room: number): ListedQueues {
  refuse(judgeByAccess(asked.access, QUEUE_NEEDS.listQueues, null, view.now()));
  const prefix = keyOfTextPrefix(SPACE.queue, [asked.account], asked.prefix);
  const behind = keyAfter(queueKey({ account: asked.account, queue: after }));
  const from = after === "" ? prefix : later(prefix, behind);
  const { entries, hasMore } = readRangePage(view, from, keyAfter(prefix), room);
  return { queues: entries.map(queueOfEntry), hasMore };
}

function later(one: Bytes, other: Bytes): Bytes {
  return one.compare(other) > 0 ? one : other;
}
