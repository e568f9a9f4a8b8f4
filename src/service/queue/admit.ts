import { Fault, refuse } from "../../base/fault.ts";
import { type Need, refuseByAccess } from "../../rules/access.ts";
import { DASHED_NAME_RULE, refuseDashedName } from "../../rules/dashed-name.ts";
import { refuseByReceipt } from "../../rules/visibility.ts";
import type { View } from "../../store/store.ts";
import type { MessageAsked, QueueAsked } from "./context.ts";
import { type Queue, readMessage, readQueue, readTurn, type Turn } from "./records.ts";

/** The queue, if it is there and the caller may do this to it or to its messages. */
export function admitToQueue(view: View, asked: QueueAsked, need: Need): Queue {
  const queue = readQueue(view, asked.at);
  const guard = queue === null ? null : { publicAccess: "none" as const, policies: queue.policies };
  // Permission comes first: who may not look does not learn what exists.
  refuse(refuseByAccess(asked.access, need, guard, view.now()));
  if (queue === null) {
    // What exists has a proper name, so only a miss has to look at it.
    refuse(refuseDashedName(asked.at.queue), DASHED_NAME_RULE);
    throw new Fault("QueueNotFound");
  }
  return queue;
}

/** The message's present turn, if the caller holds its receipt. */
export function admitToMessage(
  view: View,
  asked: MessageAsked,
  need: Need,
): { queue: Queue; turn: Turn } {
  const queue = admitToQueue(view, asked, need);
  const turn = readTurn(view, queue.id, asked.receipt);
  if (turn !== null && turn.messageId === asked.messageId) {
    refuse(refuseByReceipt(turn, true, view.now()));
    return { queue, turn };
  }
  const message = readMessage(view, queue.id, asked.messageId);
  throw new Fault(refuseByReceipt(message, false, view.now()) ?? "PopReceiptMismatch");
}
