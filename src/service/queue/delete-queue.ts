import { QUEUE_NEEDS } from "../../rules/queue-needs.ts";
import { admitToQueue } from "./admit.ts";
import type { QueueAsked, QueueContext } from "./context.ts";
import { deleteQueue as deleteRecord } from "./records.ts";

/** Deletes a queue. Its name is free at once; the sweeper removes its messages. */
export async function deleteQueue(context: QueueContext, asked: QueueAsked): Promise<void> {
  await context.store.transact((tx) => {
    deleteRecord(tx, asked.at, admitToQueue(tx, asked, QUEUE_NEEDS.deleteQueue));
  });
}
