import type { QueueContext } from "../../../service/queue/context.ts";
import { setQueueMetadata } from "../../../service/queue/set-queue-metadata.ts";
import type { RestResponse } from "../http/exchange.ts";
import { metadataOf } from "../request-headers.ts";
import { addressOf, type QueueCall } from "./call.ts";

export async function handleSetQueueMetadata(
  context: QueueContext,
  call: QueueCall,
): Promise<RestResponse> {
  await setQueueMetadata(context, {
    at: addressOf(call),
    access: call.access,
    metadata: metadataOf(call.request.headers),
  });
  return { status: 204, headers: [], body: null };
}
