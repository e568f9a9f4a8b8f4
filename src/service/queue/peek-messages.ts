import { QUEUE_NEEDS } from "../../rules/queue-needs.ts";
import type { Transaction, View } from "../../store/store.ts";
import { admitToQueue } from "./admit.ts";
import type { QueueAsked, QueueContext } from "./context.ts";
import { type Message, messageOfTurn, removeMessage, type TurnTerms } from "./records.ts";
import { visibleTurns } from "./visible-turns.ts";

export interface PeekMessages extends QueueAsked {
  readonly messagesMax: number;
}

export interface PeekedMessage extends Message, TurnTerms {}

/** Changes nothing that anybody could see. */
export async function peekMessages(
  context: QueueContext,
  asked: PeekMessages,
): Promise<readonly PeekedMessage[]> {
  for (;;) {
    const peeked = await context.store.read((view) => look(view, asked));
    if (peeked !== null) return peeked;
    await context.store.transact((tx) => clearAway(tx, asked));
  }
}

/** Null if so much has expired that it has to be cleared away first. */
function look(view: View, asked: PeekMessages): PeekedMessage[] | null {
  const { id } = admitToQueue(view, asked, QUEUE_NEEDS.peekMessages);
  const { turns, isAll } = visibleTurns(view, id, asked.messagesMax);
  if (!isAll) return null;
  return turns.map((turn) => ({ ...messageOfTurn(view, id, turn), ...turn }));
}

function clearAway(tx: Transaction, asked: PeekMessages): void {
  const { id } = admitToQueue(tx, asked, QUEUE_NEEDS.peekMessages);
  for (const turn of visibleTurns(tx, id, asked.messagesMax).expired) removeMessage(tx, id, turn);
}
