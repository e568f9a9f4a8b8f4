import { QUEUE_NEEDS } from "../../rules/queue-needs.ts";
import { type Transaction, unlessDamaged, type View } from "../../store/store.ts";
import { admitToQueue } from "./admit.ts";
import type { QueueAsked, QueueContext } from "./context.ts";
import { type Message, messageOfTurn, removeMessage, type TurnTerms } from "./records.ts";
import { visibleTurns } from "./visible-turns.ts";

/** Messages that cannot be read are passed by, up to so many. */
const DAMAGED_MAX = 256;

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
  for (let wanted = asked.messagesMax; ; ) {
    const { turns, isAll } = visibleTurns(view, id, wanted);
    if (!isAll) return null;
    const peeked = turns.flatMap((turn) => {
      const message = unlessDamaged(() => messageOfTurn(view, id, turn));
      return message === null ? [] : [{ ...message, ...turn }];
    });
    const damaged = turns.length - peeked.length;
    const isEnough = peeked.length >= asked.messagesMax || turns.length < wanted;
    if (isEnough || damaged > DAMAGED_MAX) return peeked.slice(0, asked.messagesMax);
    wanted += damaged;
  }
}

function clearAway(tx: Transaction, asked: PeekMessages): void {
  const { id } = admitToQueue(tx, asked, QUEUE_NEEDS.peekMessages);
  for (const turn of visibleTurns(tx, id, asked.messagesMax).expired) removeMessage(tx, id, turn);
}
