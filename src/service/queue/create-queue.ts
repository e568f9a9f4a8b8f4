import { Fault, refuse } from "../../base/fault.ts";
import { judgeByAccess } from "../../rules/access.ts";
import { DASHED_NAME_RULE, judgeDashedName } from "../../rules/dashed-name.ts";
import { QUEUE_NEEDS } from "../../rules/queue-needs.ts";
import type { QueueAsked, QueueContext } from "./context.ts";
import { type Metadata, readQueue, writeQueue } from "./records.ts";

export interface CreateQueue extends QueueAsked {
  readonly metadata: Metadata;
}

/** Resolves to false if the queue exists with the same metadata. */
export async function createQueue(context: QueueContext, asked: CreateQueue): Promise<boolean> {
  return context.store.transact((tx) => {
    refuse(judgeByAccess(asked.access, QUEUE_NEEDS.createQueue, null, tx.now()));
    refuse(judgeDashedName(asked.at.queue), DASHED_NAME_RULE);
    const old = readQueue(tx, asked.at);
    if (old !== null) {
      if (!isSame(old.metadata, asked.metadata)) throw new Fault("QueueAlreadyExists");
      return false;
    }
    writeQueue(tx, asked.at, { id: tx.stamp(), metadata: asked.metadata, policies: [] });
    return true;
  });
}

/** Compares metadata in any order, without the case of names. */
function isSame(one: Metadata, other: Metadata): boolean {
  if (one.length !== other.length) return false;
  const values = new Map(one.map(([name, value]) => [name.toLowerCase(), value]));
  return other.every(([name, value]) => values.get(name.toLowerCase()) === value);
}
