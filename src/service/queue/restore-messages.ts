import { refuse } from "../../base/fault.ts";
import { judgeMessageText } from "../../rules/message-text.ts";
import { QUEUE_NEEDS } from "../../rules/queue-needs.ts";
import { isExpired, judgeExpiry } from "../../rules/visibility.ts";
import { prefetch } from "../../store/accelerated.ts";
import { admitToQueue } from "./admit.ts";
import type { QueueAsked, QueueContext } from "./context.ts";
import { addMessage, messageNeeds, type PlacedMessage, readMessage, receiptOf } from "./records.ts";

export interface RestoreMessages extends QueueAsked {
  /** Few enough for one transaction. */
  readonly messages: readonly PlacedMessage[];
}

/**
 * Puts messages with their ids, times and dequeue counts, in their order: for imports. A message
 * that is there already, or has expired, is left out, so that it can be repeated.
 */
export async function restoreMessages(
  { store }: QueueContext,
  asked: RestoreMessages,
): Promise<void> {
  await store.transact((tx) => {
    const { id } = admitToQueue(tx, asked, QUEUE_NEEDS.restoreMessages);
    prefetch(tx, () => messageNeeds(id, asked.messages));
    for (const message of asked.messages) {
      const { messageId, text, insertedMs, expiresMs, visibleAtMs, dequeueCount } = message;
      refuse(judgeMessageText(text));
      refuse(judgeExpiry(expiresMs));
      if (isExpired(message, tx.now()) || readMessage(tx, id, messageId) !== null) continue;
      const receipt = receiptOf(visibleAtMs, tx.stamp());
      const slot = { messageId, expiresMs, dequeueCount, receipt };
      addMessage(tx, id, slot, { text, insertedMs, expiresMs });
    }
  });
}
