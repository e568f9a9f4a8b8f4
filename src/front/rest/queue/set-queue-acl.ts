import type { QueueContext } from "../../../service/queue/context.ts";
import { setQueueAcl } from "../../../service/queue/set-queue-acl.ts";
import type { RestResponse } from "../http/exchange.ts";
import { readSignedIdentifiers } from "../signed-identifiers.ts";
import { addressOf, type QueueCall } from "./call.ts";

export async function handleSetQueueAcl(
  context: QueueContext,
  call: QueueCall,
): Promise<RestResponse> {
  await setQueueAcl(context, {
    at: addressOf(call),
    access: call.access,
    policies: await readSignedIdentifiers(call.request),
  });
  return { status: 204, headers: [], body: null };
}
