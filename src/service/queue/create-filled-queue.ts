import { refuse } from "../../base/fault.ts";
import { newGuid, timedGuid } from "../../base/ids.ts";
import { DASHED_NAME_RULE, judgeDashedName } from "../../rules/dashed-name.ts";
import { judgeMessageText } from "../../rules/message-text.ts";
import { judgeExpiry, judgeFirstSlot } from "../../rules/visibility.ts";
import type { QueueAddress, QueueContext } from "./context.ts";
import type { PutMessage } from "./put-message.ts";
import { addMessage, type Metadata, readQueue, receiptOf, writeQueue } from "./records.ts";

export interface CreateFilledQueue {
  readonly at: QueueAddress;
  readonly metadata: Metadata;
  /** Few enough for one transaction. */
  readonly messages: readonly Pick<PutMessage, "text" | "hiddenMs" | "lifeMs">[];
}

/**
 * Creates a queue with its first messages in one step, for the operator of the server. Resolves to
 * false, and puts no message, if the queue exists: so a repeated call never puts one twice, nor one
 * again that was received and deleted.
 */
export async function createFilledQueue(
  { store }: QueueContext,
  { at, metadata, messages }: CreateFilledQueue,
): Promise<boolean> {
  const random = messages.map(() => newGuid());
  return store.transact((tx) => {
    refuse(judgeDashedName(at.queue), DASHED_NAME_RULE);
    if (readQueue(tx, at) !== null) return false;
    const id = tx.stamp();
    writeQueue(tx, at, { id, metadata, policies: [] });
    const insertedMs = tx.now();
    for (const [index, { text, hiddenMs, lifeMs }] of messages.entries()) {
      refuse(judgeMessageText(text));
      const expiresMs = lifeMs === null ? null : insertedMs + lifeMs;
      refuse(judgeExpiry(expiresMs));
      const visibleAtMs = insertedMs + hiddenMs;
      refuse(judgeFirstSlot(visibleAtMs, { expiresMs }));
      const messageId = timedGuid(insertedMs, random[index] as string);
      const receipt = receiptOf(visibleAtMs, tx.stamp());
      const slot = { messageId, expiresMs, dequeueCount: 0, receipt };
      addMessage(tx, id, slot, { text, insertedMs, expiresMs });
    }
    return true;
  });
}
