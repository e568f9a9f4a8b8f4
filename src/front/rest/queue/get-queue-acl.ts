import type { QueueContext } from "../../../service/queue/context.ts";
import { getQueueAcl } from "../../../service/queue/get-queue-acl.ts";
import type { RestResponse } from "../http/exchange.ts";
import { XML_CONTENT } from "../response-headers.ts";
import { signedIdentifiersXml } from "../signed-identifiers.ts";
import { addressOf, type QueueCall } from "./call.ts";

export async function handleGetQueueAcl(
  context: QueueContext,
  call: QueueCall,
): Promise<RestResponse> {
  const policies = await getQueueAcl(context, { at: addressOf(call), access: call.access });
  return { status: 200, headers: [...XML_CONTENT], body: signedIdentifiersXml(policies) };
}
