import type { QueueContext } from "../../../service/queue/context.ts";
import { createQueue } from "../../../service/queue/create-queue.ts";
import type { RestResponse } from "../http/exchange.ts";
import { metadataOf } from "../request-headers.ts";
import { addressOf, type QueueCall } from "./call.ts";

export async function handleCreateQueue(
  context: QueueContext,
  call: QueueCall,
): Promise<RestResponse> {
  const isNew = await createQueue(context, {
    at: addressOf(call),
    access: call.access,
    metadata: metadataOf(call.request.headers),
  });
  return { status: isNew ? 201 : 204, headers: [], body: null };
}
