import type { Bytes } from "../../base/bytes.ts";
import type { Instant } from "../../base/clock.ts";
import { Fault, refuse } from "../../base/fault.ts";
import { refuseMessageText } from "../../rules/message-text.ts";
import { QUEUE_NEEDS } from "../../rules/queue-needs.ts";
import { refuseLaterTurn } from "../../rules/visibility.ts";
import { admitToMessage } from "./admit.ts";
import type { MessageAsked, QueueContext } from "./context.ts";
import { deleteTurn, messageOfTurn, receiptOf, writeMessage, writeTurn } from "./records.ts";

export interface UpdateMessage extends MessageAsked {
  /** From now on. */
  readonly hiddenMs: number;
  /** Null: it stays as it is. */
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
    const { queue, turn } = admitToMessage(tx, asked, QUEUE_NEEDS.updateMessage);
    const visibleAtMs = tx.now() + asked.hiddenMs;
    const refused = refuseLaterTurn(visibleAtMs, turn);
    if (refused !== null) {
      throw new Fault(refused, { Reason: "A message cannot be hidden for longer than it lives." });
    }
    if (asked.text !== null) {
      refuse(refuseMessageText(asked.text));
      const message = messageOfTurn(tx, queue.id, turn);
      writeMessage(tx, queue.id, turn.messageId, { ...message, text: asked.text });
    }
    const receipt = receiptOf(visibleAtMs, tx.stamp());
    deleteTurn(tx, queue.id, turn);
    writeTurn(tx, queue.id, { ...turn, receipt });
    return { receipt, visibleAtMs };
  });
}
