import type { QueueContext } from "../../../service/queue/context.ts";
import { getMessages } from "../../../service/queue/get-messages.ts";
import type { RestResponse } from "../http/exchange.ts";
import { addressOf, type QueueCall } from "./call.ts";
import { hiddenMsOf, messagesMaxOf } from "./message-query.ts";
import { gotMessageXml, messagesResponse } from "./message-xml.ts";

const HIDDEN_MS_DEFAULT = 30_000;

export async function handleGetMessages(
  context: QueueContext,
  call: QueueCall,
): Promise<RestResponse> {
  const { query } = call.request;
  const messages = await getMessages(context, {
    at: addressOf(call),
    access: call.access,
    messagesMax: messagesMaxOf(query),
    hiddenMs: hiddenMsOf(query, 1) ?? HIDDEN_MS_DEFAULT,
  });
  return messagesResponse(200, messages.map(gotMessageXml));
}
