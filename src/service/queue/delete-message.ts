import { QUEUE_NEEDS } from "../../rules/queue-needs.ts";
import { admitToMessage } from "./admit.ts";
import type { MessageAsked, QueueContext } from "./context.ts";
import { removeMessage } from "./records.ts";

export async function deleteMessage(context: QueueContext, asked: MessageAsked): Promise<void> {
  await context.store.transact((tx) => {
    const { queue, slot } = admitToMessage(tx, asked, QUEUE_NEEDS.deleteMessage);
    removeMessage(tx, queue.id, slot);
  });
}
