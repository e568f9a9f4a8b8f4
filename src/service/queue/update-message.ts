import type { Bytes } from "../../base/bytes.ts";
import type { Instant } from "../../base/clock.ts";
import { Fault, refuse } from "../../base/fault.ts";
import { judgeMessageText } from "../../rules/message-text.ts";
import { QUEUE_NEEDS } from "../../rules/queue-needs.ts";
import { judgeLaterSlot } from "../../rules/visibility.ts";
import { admitToMessage } from "./admit.ts";
import type { MessageAsked, QueueContext } from "./context.ts";
import { deleteSlot, messageOfSlot, receiptOf, writeMessage, writeSlot } from "./records.ts";

export interface UpdateMessage extends MessageAsked {
  /** How long it is hidden from now. */
  readonly hiddenMs: number;
  /** Null to leave it unchanged. */
  readonly text: string | null;
}

export interface UpdateMessageDone {
  readonly receipt: Bytes;
  readonly visibleAtMs: Instant;
}

export async function updateMessage(
  context: QueueContext,
  asked: UpdateMessage,
): Promise<UpdateMessageDone> {
  return context.store.transact((tx) => {
    const { queue, slot } = admitToMessage(tx, asked, QUEUE_NEEDS.updateMessage);
    const visibleAtMs = tx.now() + asked.hiddenMs;
    const refused = judgeLaterSlot(visibleAtMs, slot);
    if (refused !== null) {
      throw new Fault(refused, { Reason: "A message cannot be hidden for longer than it lives." });
    }
    if (asked.text !== null) {
      refuse(judgeMessageText(asked.text));
      const message = messageOfSlot(tx, queue.id, slot);
      writeMessage(tx, queue.id, slot.messageId, { ...message, text: asked.text });
    }
    const receipt = receiptOf(visibleAtMs, tx.stamp());
    deleteSlot(tx, queue.id, slot);
    writeSlot(tx, queue.id, { ...slot, receipt });
    return { receipt, visibleAtMs };
  });
}
