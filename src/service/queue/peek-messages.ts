import { QUEUE_NEEDS } from "../../rules/queue-needs.ts";
import { prefetch } from "../../store/accelerated.ts";
import { type Transaction, unlessDamaged, type View } from "../../store/store.ts";
import { admitToQueue } from "./admit.ts";
import type { QueueAsked, QueueContext } from "./context.ts";
import {
  type Message,
  messageNeeds,
  messageOfSlot,
  removalNeeds,
  removeMessage,
  type SlotTerms,
} from "./records.ts";
import { visibleSlots } from "./visible-slots.ts";

/** Limit of damaged messages that a peek skips. */
const DAMAGED_MAX = 256;

export interface PeekMessages extends QueueAsked {
  readonly messagesMax: number;
}

export interface PeekedMessage extends Message, SlotTerms {}

/** Returns visible messages without changing them. */
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

/** Null if there are so many expired messages that they must be removed first. */
function look(view: View, asked: PeekMessages): PeekedMessage[] | null {
  const { id } = admitToQueue(view, asked, QUEUE_NEEDS.peekMessages);
  for (let wanted = asked.messagesMax; ; ) {
    const { slots, isAll } = visibleSlots(view, id, wanted);
    if (!isAll) return null;
    prefetch(view, () => messageNeeds(id, slots));
    const peeked = slots.flatMap((slot) => {
      const message = unlessDamaged(() => messageOfSlot(view, id, slot));
      return message === null ? [] : [{ ...message, ...slot }];
    });
    const damaged = slots.length - peeked.length;
    const isEnough = peeked.length >= asked.messagesMax || slots.length < wanted;
    if (isEnough || damaged > DAMAGED_MAX) return peeked.slice(0, asked.messagesMax);
    wanted += damaged;
  }
}

function clearAway(tx: Transaction, asked: PeekMessages): void {
  const { id } = admitToQueue(tx, asked, QUEUE_NEEDS.peekMessages);
  const { expired } = visibleSlots(tx, id, asked.messagesMax);
  prefetch(tx, () => removalNeeds(id, expired));
  for (const slot of expired) removeMessage(tx, id, slot);
}
