import { clearMessages } from "../../../service/queue/clear-messages.ts";
import type { QueueContext } from "../../../service/queue/context.ts";
import type { RestResponse } from "../http/exchange.ts";
import { addressOf, type QueueCall } from "./call.ts";

export async function handleClearMessages(
  context: QueueContext,
  call: QueueCall,
): Promise<RestResponse> {
  await clearMessages(context, { at: addressOf(call), access: call.access });
  return { status: 204, headers: [], body: null };
}
