import { keyAfter } from "../../base/keys.ts";
import { isExpired } from "../../rules/visibility.ts";
import type { View } from "../../store/store.ts";
import { firstSlotKey, type Slot, slotOfEntry } from "./records.ts";

/** Expired messages that one body may find: enough to make progress, few enough to be quick. */
const EXPIRED_MAX = 256;

export interface VisibleSlots {
  readonly slots: readonly Slot[];
  /** Expired slots before the last visible one, to be removed. */
  readonly expired: readonly Slot[];
  /** False if expired messages stopped the search. */
  readonly isAll: boolean;
}

/**
 * The first `wanted` messages that are visible now. The cost does not depend on the queue's length.
 */
export function visibleSlots(view: View, id: bigint, wanted: number): VisibleSlots {
  const now = view.now();
  const slots: Slot[] = [];
  const expired: Slot[] = [];
  const until = firstSlotKey(id, now + 1);
  for (let from = firstSlotKey(id, 0); ; ) {
    // Search twice as far each time while everything found has expired.
    const limit = wanted - slots.length + expired.length;
    const entries = view.range(from, until, { limit, skipsDamaged: true });
    for (const slot of entries.map(slotOfEntry)) {
      if (isExpired(slot, now)) expired.push(slot);
      else if (slots.length < wanted) slots.push(slot);
    }
    const last = entries.at(-1);
    const isAll = slots.length >= wanted || last === undefined || entries.length < limit;
    if (isAll || expired.length >= EXPIRED_MAX) return { slots, expired, isAll };
    from = keyAfter(last.key);
  }
}
