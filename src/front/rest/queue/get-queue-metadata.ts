import type { QueueContext } from "../../../service/queue/context.ts";
import { getQueueMetadata } from "../../../service/queue/get-queue-metadata.ts";
import type { RestResponse } from "../http/exchange.ts";
import { metadataHeaders } from "../response-headers.ts";
import { addressOf, type QueueCall } from "./call.ts";

export async function handleGetQueueMetadata(
  context: QueueContext,
  call: QueueCall,
): Promise<RestResponse> {
  const found = await getQueueMetadata(context, { at: addressOf(call), access: call.access });
  return {
    status: 200,
    headers: [
      ...metadataHeaders(found.metadata),
      "x-ms-approximate-messages-count",
      String(found.messagesAbout),
      "Cache-Control",
      "no-cache",
    ],
    body: null,
  };
}
