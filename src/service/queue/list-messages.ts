import type { Bytes } from "../../base/bytes.ts";
import type { Instant } from "../../base/clock.ts";
import { key, keyAfter, SPACE } from "../../base/keys.ts";
import { QUEUE_NEEDS } from "../../rules/queue-needs.ts";
import { isExpired } from "../../rules/visibility.ts";
import { prefetch } from "../../store/accelerated.ts";
import { admitToQueue } from "./admit.ts";
import type { QueueAsked, QueueContext } from "./context.ts";
import {
  messageNeeds,
  messageOfSlot,
  type PlacedMessage,
  slotKey,
  slotOfEntry,
  visibleAtOfSlotKey,
} from "./records.ts";

/** Messages of one page: with the longest texts, a few MiB. */
const PAGE_MESSAGES = 64;

export interface ListMessages extends QueueAsked {
  /** The receipt that the last page ended with; null for the first page. */
  readonly after: Bytes | null;
}

export interface MessagePage {
  readonly messages: readonly PlacedMessage[];
  /** Null if there are no more. */
  readonly next: Bytes | null;
}

/** Lists messages in their order, hidden ones included, and changes nothing: for exports. */
export async function listMessages(
  { store }: QueueContext,
  asked: ListMessages,
): Promise<MessagePage> {
  return store.read((view) => {
    const { id } = admitToQueue(view, asked, QUEUE_NEEDS.listMessages);
    const all = key(SPACE.messageSlot, id);
    const from = asked.after === null ? all : keyAfter(slotKey(id, asked.after));
    const entries = view.range(from, keyAfter(all), { limit: PAGE_MESSAGES });
    const found = entries.map((entry) => ({
      slot: slotOfEntry(entry),
      visibleAtMs: visibleAtOfSlotKey(entry.key),
    }));
    const alive = found.filter(({ slot }) => !isExpired(slot, view.now()));
    prefetch(view, () =>
      messageNeeds(
        id,
        alive.map(({ slot }) => slot),
      ),
    );
    return {
      messages: alive.map(({ slot, visibleAtMs }) => placed(slot, visibleAtMs)),
      next: entries.length < PAGE_MESSAGES ? null : (found.at(-1)?.slot.receipt ?? null),
    };

    function placed(slot: (typeof found)[number]["slot"], visibleAtMs: Instant): PlacedMessage {
      const { text, insertedMs } = messageOfSlot(view, id, slot);
      const { messageId, expiresMs, dequeueCount } = slot;
      return { messageId, text, insertedMs, expiresMs, visibleAtMs, dequeueCount };
    }
  });
}
