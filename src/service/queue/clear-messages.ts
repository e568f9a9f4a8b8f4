import { QUEUE_NEEDS } from "../../rules/queue-needs.ts";
import { admitToQueue } from "./admit.ts";
import type { QueueAsked, QueueContext } from "./context.ts";
import { abandonMessages, writeQueue } from "./records.ts";

/** Removes all messages at once, hidden ones too, by giving the queue a new id. */
export async function clearMessages(context: QueueContext, asked: QueueAsked): Promise<void> {
  await context.store.transact((tx) => {
    const old = admitToQueue(tx, asked, QUEUE_NEEDS.clearMessages);
    abandonMessages(tx, old.id);
    writeQueue(tx, asked.at, { ...old, id: tx.stamp() });
  });
}
