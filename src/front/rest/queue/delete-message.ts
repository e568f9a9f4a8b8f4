import type { QueueContext } from "../../../service/queue/context.ts";
import { deleteMessage } from "../../../service/queue/delete-message.ts";
import type { RestResponse } from "../http/exchange.ts";
import { addressOf, type QueueCall } from "./call.ts";
import { receiptFromQuery } from "./message-query.ts";

export async function handleDeleteMessage(
  context: QueueContext,
  call: QueueCall,
): Promise<RestResponse> {
  await deleteMessage(context, {
    at: addressOf(call),
    access: call.access,
    messageId: call.route.messageId,
    receipt: receiptFromQuery(call.request.query),
  });
  return { status: 204, headers: [], body: null };
}
