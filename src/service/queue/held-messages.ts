import type { Instant } from "../../base/clock.ts";
import { instantOfGuid } from "../../base/ids.ts";
import { KeyReader, key, keyAfter, SPACE } from "../../base/keys.ts";
import { isExpired } from "../../rules/visibility.ts";
import type { Found, HeldRecords } from "../shared/holder-scan.ts";
import {
  firstSlotKey,
  issuedMsOf,
  queueOfEntry,
  slotOfEntry,
  visibleAtOfSlotKey,
} from "./records.ts";

/** Hidden messages that are shown of each queue. */
const MESSAGES_PER_QUEUE = 100;

/** Messages that were handed out, or that wait for their time. */
export const HELD_MESSAGES: readonly HeldRecords[] = [
  {
    space: SPACE.queue,
    recordsPerStep: 20,
    needs: (entry, now) => [hiddenSlots(queueOfEntry(entry).queue.id, now)],
    find(view, entry, now) {
      const { queue, name } = queueOfEntry(entry);
      const account = new KeyReader(entry.key).text();
      const { from, until, options } = hiddenSlots(queue.id, now);
      const slots = view.range(from, until, options);
      return slots.flatMap((found): Found[] => {
        const slot = slotOfEntry(found);
        if (isExpired(slot, now)) return [];
        const { messageId: id, dequeueCount, receipt } = slot;
        const held = {
          kind: "message" as const,
          id,
          popReceipt: receipt.toString("base64"),
          dequeueCount,
          putMs: instantOfGuid(id),
          sinceMs: issuedMsOf(receipt),
          untilMs: visibleAtOfSlotKey(found.key),
        };
        return [{ held, at: { account, container: name, path: "" } }];
      });
    },
  },
];

/** Slots are ordered by the time at which their message becomes visible. */
function hiddenSlots(id: bigint, now: Instant) {
  const from = firstSlotKey(id, now + 1);
  const until = keyAfter(key(SPACE.messageSlot, id));
  return { from, until, options: { limit: MESSAGES_PER_QUEUE, skipsDamaged: true } };
}
