import { QUEUE_NEEDS } from "../../rules/queue-needs.ts";
import { admitToQueue } from "./admit.ts";
import type { QueueAsked, QueueContext } from "./context.ts";
import { type Metadata, writeQueue } from "./records.ts";

export interface SetQueueMetadata extends QueueAsked {
  readonly metadata: Metadata;
}

export async function setQueueMetadata(
  context: QueueContext,
  asked: SetQueueMetadata,
): Promise<void> {
  await context.store.transact((tx) => {
    const old = admitToQueue(tx, asked, QUEUE_NEEDS.setQueueMetadata);
    writeQueue(tx, asked.at, { ...old, metadata: asked.metadata });
  });
}
