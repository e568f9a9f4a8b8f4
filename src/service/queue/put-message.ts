import type { Bytes } from "../../base/bytes.ts";
import type { Instant } from "../../base/clock.ts";
import { Fault, refuse } from "../../base/fault.ts";
import { newGuid, timedGuid } from "../../base/ids.ts";
import { judgeMessageText } from "../../rules/message-text.ts";
import { QUEUE_NEEDS } from "../../rules/queue-needs.ts";
import { judgeExpiry, judgeFirstSlot } from "../../rules/visibility.ts";
import { admitToQueue } from "./admit.ts";
import type { QueueAsked, QueueContext } from "./context.ts";
import { addMessage, receiptOf } from "./records.ts";

export interface PutMessage extends QueueAsked {
  readonly text: string;
  /** How long it is hidden from all clients. */
  readonly hiddenMs: number;
  /** Null if it never expires. */
  readonly lifeMs: number | null;
}

export interface PutMessageDone {
  readonly messageId: string;
  readonly insertedMs: Instant;
  readonly expiresMs: Instant | null;
  readonly visibleAtMs: Instant;
  /** With it, the sender may update and delete the message like a receiver. */
  readonly receipt: Bytes;
}

export async function putMessage(
  context: QueueContext,
  asked: PutMessage,
): Promise<PutMessageDone> {
  const random = newGuid();
  return context.store.transact((tx) => {
    const queue = admitToQueue(tx, asked, QUEUE_NEEDS.putMessage);
    refuse(judgeMessageText(asked.text));
    const insertedMs = tx.now();
    const expiresMs = asked.lifeMs === null ? null : insertedMs + asked.lifeMs;
    refuse(judgeExpiry(expiresMs), "messagettl must end before the year 10000.");
    const visibleAtMs = insertedMs + asked.hiddenMs;
    const refused = judgeFirstSlot(visibleAtMs, { expiresMs });
    if (refused !== null) {
      throw new Fault(refused, { Reason: "A message must become visible before it expires." });
    }
    const messageId = timedGuid(insertedMs, random);
    const receipt = receiptOf(visibleAtMs, tx.stamp());
    const slot = { messageId, expiresMs, dequeueCount: 0, receipt };
    addMessage(tx, queue.id, slot, { text: asked.text, insertedMs, expiresMs });
    return { messageId, insertedMs, expiresMs, visibleAtMs, receipt };
  });
}
