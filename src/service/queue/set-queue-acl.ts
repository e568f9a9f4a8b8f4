import { refuse } from "../../base/fault.ts";
import type { StoredPolicy } from "../../rules/access.ts";
import { QUEUE_NEEDS } from "../../rules/queue-needs.ts";
import { judgePolicies, QUEUE_LETTERS } from "../../rules/stored-policies.ts";
import { admitToQueue } from "./admit.ts";
import type { QueueAsked, QueueContext } from "./context.ts";
import { writeQueue } from "./records.ts";

export interface SetQueueAcl extends QueueAsked {
  readonly policies: readonly StoredPolicy[];
}

/** Takes effect at once, even for requests in progress: they are judged when they commit. */
export async function setQueueAcl(context: QueueContext, asked: SetQueueAcl): Promise<void> {
  await context.store.transact((tx) => {
    const old = admitToQueue(tx, asked, QUEUE_NEEDS.setQueueAcl);
    refuse(judgePolicies(asked.policies, QUEUE_LETTERS));
    writeQueue(tx, asked.at, { ...old, policies: asked.policies });
  });
}
