import type { QueueContext } from "../../../service/queue/context.ts";
import { peekMessages } from "../../../service/queue/peek-messages.ts";
import type { RestResponse } from "../http/exchange.ts";
import { addressOf, type QueueCall } from "./call.ts";
import { messagesMaxOf } from "./message-query.ts";
import { messagesResponse, peekedMessageXml } from "./message-xml.ts";

export async function handlePeekMessages(
  context: QueueContext,
  call: QueueCall,
): Promise<RestResponse> {
  const messages = await peekMessages(context, {
    at: addressOf(call),
    access: call.access,
    messagesMax: messagesMaxOf(call.request.query),
  });
  return messagesResponse(200, messages.map(peekedMessageXml));
}
