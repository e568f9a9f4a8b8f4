import type { StoredPolicy } from "../../rules/access.ts";
import { QUEUE_NEEDS } from "../../rules/queue-needs.ts";
import { admitToQueue } from "./admit.ts";
import type { QueueAsked, QueueContext } from "./context.ts";

export async function getQueueAcl(
  context: QueueContext,
  asked: QueueAsked,
): Promise<readonly StoredPolicy[]> {
  return context.store.read((view) => admitToQueue(view, asked, QUEUE_NEEDS.getQueueAcl).policies);
}
