import { instantOfGuid } from "../../base/ids.ts";
import { SPACE } from "../../base/keys.ts";
import { isExpired } from "../../rules/visibility.ts";
import type { CountedRecords } from "../shared/counted-records.ts";
import { queueOfEntry, slotOfEntry, visibleAtOfSlotKey } from "./records.ts";

export const COUNTED_MESSAGES: readonly CountedRecords[] = [
  {
    space: SPACE.queue,
    idOf: (entry) => queueOfEntry(entry).queue.id,
    count(_, __, tally) {
      tally.add("queues");
    },
  },
  {
    // Every message has one visibility slot, which is shorter than the message.
    space: SPACE.messageSlot,
    parent: SPACE.queue,
    count(entry, now, tally) {
      const slot = slotOfEntry(entry);
      if (isExpired(slot, now)) return;
      const isVisible = visibleAtOfSlotKey(entry.key) <= now;
      tally.add(isVisible ? "visibleMessages" : "hiddenMessages");
      tally.noteMessage(instantOfGuid(slot.messageId));
    },
  },
];
