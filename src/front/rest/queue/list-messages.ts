import type { QueueContext } from "../../../service/queue/context.ts";
import { listMessages } from "../../../service/queue/list-messages.ts";
import type { PlacedMessage } from "../../../service/queue/records.ts";
import type { RestResponse } from "../http/exchange.ts";
import { addressOf, type QueueCall } from "./call.ts";

/** Lists messages as JSON: XML has no form for some characters of their texts. */
export async function handleListMessages(
  context: QueueContext,
  call: QueueCall,
): Promise<RestResponse> {
  const marker = call.request.query.get("marker") ?? "";
  const { messages, next } = await listMessages(context, {
    at: addressOf(call),
    access: call.access,
    after: marker === "" ? null : Buffer.from(marker, "base64url"),
  });
  const answer = {
    messages: messages.map(messageOf),
    ...(next === null ? {} : { next: next.toString("base64url") }),
  };
  const headers = ["Content-Type", "application/json"];
  return { status: 200, headers, body: Buffer.from(JSON.stringify(answer)) };
}

function messageOf(message: PlacedMessage) {
  const { messageId: id, text, dequeueCount: dequeued, expiresMs } = message;
  const iso = (ms: number) => new Date(ms).toISOString();
  return {
    id,
    text,
    inserted: iso(message.insertedMs),
    ...(expiresMs === null ? {} : { expires: iso(expiresMs) }),
    visible: iso(message.visibleAtMs),
    dequeued,
  };
}
