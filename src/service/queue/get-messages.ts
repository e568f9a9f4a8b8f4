import type { Bytes } from "../../base/bytes.ts";
import type { Instant } from "../../base/clock.ts";
import { QUEUE_NEEDS } from "../../rules/queue-needs.ts";
import { prefetch } from "../../store/accelerated.ts";
import { type Transaction, unlessDamaged, type View } from "../../store/store.ts";
import { admitToQueue } from "./admit.ts";
import type { QueueAsked, QueueContext } from "./context.ts";
import type { PeekedMessage } from "./peek-messages.ts";
import {
  deleteSlot,
  messageNeeds,
  messageOfSlot,
  receiptOf,
  removalNeeds,
  removeMessage,
  type Slot,
  writeSlot,
} from "./records.ts";
import { visibleSlots } from "./visible-slots.ts";

export interface GetMessages extends QueueAsked {
  readonly messagesMax: number;
  /** How long they are hidden from other clients. */
  readonly hiddenMs: number;
}

/** How many messages are fetched with those that are taken, if they must be fetched. */
const NEXT_MESSAGES = 128;

export interface GotMessage extends PeekedMessage {
  readonly receipt: Bytes;
  readonly visibleAtMs: Instant;
}

/** Takes the messages in one transaction, so no other client gets any of them. */
export async function getMessages(
  context: QueueContext,
  asked: GetMessages,
): Promise<readonly GotMessage[]> {
  // Polling an empty queue waits for no commit.
  if (await context.store.read((view) => isEmpty(view, asked))) return [];
  for (;;) {
    const got = await context.store.transact((tx) => take(tx, asked));
    if (got !== null) return got;
  }
}

function isEmpty(view: View, asked: GetMessages): boolean {
  const { id } = admitToQueue(view, asked, QUEUE_NEEDS.getMessages);
  const { slots, expired } = visibleSlots(view, id, 1);
  return slots.length === 0 && expired.length === 0;
}

/**
 * Null if nothing was taken because there were too many expired messages to remove, or because all
 * messages found are damaged. Damaged ones are hidden like taken ones, so that they do not block
 * the messages after them.
 */
function take(tx: Transaction, asked: GetMessages): GotMessage[] | null {
  const { id } = admitToQueue(tx, asked, QUEUE_NEEDS.getMessages);
  const { slots, expired, isAll } = visibleSlots(tx, id, asked.messagesMax);
  prefetch(
    tx,
    () => [...removalNeeds(id, expired), ...messageNeeds(id, slots)],
    // Other consumers want the messages behind these, and their bodies run right after this one.
    () => messageNeeds(id, visibleSlots(tx, id, NEXT_MESSAGES).slots),
  );
  for (const slot of expired) removeMessage(tx, id, slot);
  if (!isAll) return null;
  const visibleAtMs = tx.now() + asked.hiddenMs;
  const taken = slots.map((old) => takeOne(tx, id, old, visibleAtMs));
  const got = taken.filter((message) => message !== null);
  return got.length === 0 && slots.length > 0 ? null : got;
}

function takeOne(tx: Transaction, id: bigint, old: Slot, visibleAtMs: Instant): GotMessage | null {
  const { messageId, expiresMs } = old;
  const dequeueCount = old.dequeueCount + 1;
  const receipt = receiptOf(visibleAtMs, tx.stamp());
  deleteSlot(tx, id, old);
  writeSlot(tx, id, { messageId, expiresMs, dequeueCount, receipt });
  const message = unlessDamaged(() => messageOfSlot(tx, id, old));
  if (message === null) return null;
  const { text, insertedMs } = message;
  return { messageId, text, insertedMs, expiresMs, dequeueCount, receipt, visibleAtMs };
}
