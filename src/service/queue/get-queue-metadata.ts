import { QUEUE_NEEDS } from "../../rules/queue-needs.ts";
import { admitToQueue } from "./admit.ts";
import type { QueueAsked, QueueContext } from "./context.ts";
import { countMessages, type Metadata } from "./records.ts";

export interface GetQueueMetadataDone {
  readonly metadata: Metadata;
  /** Never less than the actual number; expired messages may count for a while. */
  readonly messagesAbout: number;
}

export async function getQueueMetadata(
  context: QueueContext,
  asked: QueueAsked,
): Promise<GetQueueMetadataDone> {
  return context.store.read((view) => {
    const queue = admitToQueue(view, asked, QUEUE_NEEDS.getQueueMetadata);
    return { metadata: queue.metadata, messagesAbout: countMessages(view, queue.id) };
  });
}
