import type { Bytes } from "../../base/bytes.ts";
import { refuse } from "../../base/fault.ts";
import { keyAfter, keyOfTextPrefix, SPACE } from "../../base/keys.ts";
import { type Access, judgeByAccess } from "../../rules/access.ts";
import { QUEUE_NEEDS } from "../../rules/queue-needs.ts";
import type { View } from "../../store/store.ts";
import { listPages } from "../shared/list-pages.ts";
import { readRangePage } from "../shared/range-page.ts";
import type { QueueContext } from "./context.ts";
import { type Queue, queueKey, queueOfEntry } from "./records.ts";

export interface ListQueues {
  readonly account: string;
  readonly access: Access;
  readonly prefix: string;
  /** The last name of the previous list; "" to begin with the first. */
  readonly after: string;
  readonly resultsMax: number;
}

/** A part of the answer, in order. */
export interface ListedQueues {
  readonly queues: readonly ListedQueue[];
  /** The name after which the list continues; null at its end. */
  readonly next: string | null;
}

export interface ListedQueue {
  readonly name: string;
  readonly queue: Queue;
}

export function listQueues(context: QueueContext, asked: ListQueues): AsyncGenerator<ListedQueues> {
  const { after, resultsMax } = asked;
  return listPages(context.store, {
    after,
    resultsMax,
    read: (view, from, room) => listPage(view, asked, from, room),
    count: ({ queues }) => queues.length,
  });
}

function listPage(view: View, asked: ListQueues, after: string, room: number): ListedQueues {
  refuse(judgeByAccess(asked.access, QUEUE_NEEDS.listQueues, null, view.now()));
  const prefix = keyOfTextPrefix(SPACE.queue, [asked.account], asked.prefix);
  const behind = keyAfter(queueKey({ account: asked.account, queue: after }));
  const from = after === "" ? prefix : later(prefix, behind);
  const { entries, hasMore } = readRangePage(view, from, keyAfter(prefix), room);
  const queues = entries.map(queueOfEntry);
  return { queues, next: hasMore ? (queues.at(-1)?.name ?? after) : null };
}

function later(one: Bytes, other: Bytes): Bytes {
  return one.compare(other) > 0 ? one : other;
}
