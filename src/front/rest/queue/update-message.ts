import { rfc1123 } from "../../../base/time-text.ts";
import type { QueueContext } from "../../../service/queue/context.ts";
import { updateMessage } from "../../../service/queue/update-message.ts";
import type { RestResponse } from "../http/exchange.ts";
import { requireFromQuery } from "../request-query.ts";
import { addressOf, type QueueCall } from "./call.ts";
import { hiddenMsOf, receiptFromQuery, receiptText } from "./message-query.ts";
import { readMessageText } from "./message-xml.ts";

export async function handleUpdateMessage(
  context: QueueContext,
  call: QueueCall,
): Promise<RestResponse> {
  const { query } = call.request;
  requireFromQuery(query, "visibilitytimeout");
  const { receipt, visibleAtMs } = await updateMessage(context, {
    at: addressOf(call),
    access: call.access,
    messageId: call.route.messageId,
    receipt: receiptFromQuery(query),
    hiddenMs: hiddenMsOf(query, 0) ?? 0,
    text: await readMessageText(call.request),
  });
  return {
    status: 204,
    headers: [
      ...["x-ms-popreceipt", receiptText(receipt)],
      ...["x-ms-time-next-visible", rfc1123(visibleAtMs)],
    ],
    body: null,
  };
}
