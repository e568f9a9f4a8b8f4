import type { QueueContext } from "../../../service/queue/context.ts";
import { deleteQueue } from "../../../service/queue/delete-queue.ts";
import type { RestResponse } from "../http/exchange.ts";
import { addressOf, type QueueCall } from "./call.ts";

export async function handleDeleteQueue(
  context: QueueContext,
  call: QueueCall,
): Promise<RestResponse> {
  await deleteQueue(context, { at: addressOf(call), access: call.access });
  return { status: 204, headers: [], body: null };
}
