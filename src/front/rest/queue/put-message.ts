import { Fault } from "../../../base/fault.ts";
import type { QueueContext } from "../../../service/queue/context.ts";
import { putMessage } from "../../../service/queue/put-message.ts";
import type { RestRequest, RestResponse } from "../http/exchange.ts";
import { addressOf, type QueueCall } from "./call.ts";
import { hiddenMsOf, lifeMsOf } from "./message-query.ts";
import { messagesResponse, putMessageXml, readMessageText } from "./message-xml.ts";

/** Before this version the answer does not describe the message. */
const ANSWERS_FROM = "2016-05-31";

export async function handlePutMessage(
  context: QueueContext,
  call: QueueCall,
): Promise<RestResponse> {
  const { query } = call.request;
  const done = await putMessage(context, {
    at: addressOf(call),
    access: call.access,
    hiddenMs: hiddenMsOf(query, 0) ?? 0,
    lifeMs: lifeMsOf(query, call.version),
    text: await requireMessageText(call.request),
  });
  if (call.version < ANSWERS_FROM) return { status: 201, headers: [], body: null };
  return messagesResponse(201, [putMessageXml(done)]);
}

async function requireMessageText(request: RestRequest): Promise<string> {
  const text = await readMessageText(request);
  if (text !== null) return text;
  throw new Fault("InvalidXmlDocument", { Reason: "The body is empty." });
}
