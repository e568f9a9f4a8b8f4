import { Fault, refuse } from "../../base/fault.ts";
import { judgeByAccess, type Need } from "../../rules/access.ts";
import { DASHED_NAME_RULE, judgeDashedName } from "../../rules/dashed-name.ts";
import { judgeByReceipt } from "../../rules/visibility.ts";
import type { View } from "../../store/store.ts";
import type { MessageAsked, QueueAsked } from "./context.ts";
import { type Queue, readMessage, readQueue, readSlot, type Slot } from "./records.ts";

/** The queue, if it exists and the caller may do this to it or to its messages. */
export function admitToQueue(view: View, asked: QueueAsked, need: Need): Queue {
  const queue = readQueue(view, asked.at);
  const guard = queue === null ? null : { publicAccess: "none" as const, policies: queue.policies };
  // Permission comes first: without it a caller does not learn what exists.
  refuse(judgeByAccess(asked.access, need, guard, view.now()));
  if (queue === null) {
    // Whatever exists has a valid name, so only a miss checks it.
    refuse(judgeDashedName(asked.at.queue), DASHED_NAME_RULE);
    throw new Fault("QueueNotFound");
  }
  return queue;
}

/** The message's current visibility slot, if the caller has its receipt. */
export function admitToMessage(
  view: View,
  asked: MessageAsked,
  need: Need,
): { queue: Queue; slot: Slot } {
  const queue = admitToQueue(view, asked, need);
  const slot = readSlot(view, queue.id, asked.receipt);
  if (slot !== null && slot.messageId === asked.messageId) {
    refuse(judgeByReceipt(slot, true, view.now()));
    return { queue, slot };
  }
  const message = readMessage(view, queue.id, asked.messageId);
  throw new Fault(judgeByReceipt(message, false, view.now()) ?? "PopReceiptMismatch");
}
