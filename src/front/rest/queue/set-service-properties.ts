import type { QueueContext } from "../../../service/queue/context.ts";
import type { RestResponse } from "../http/exchange.ts";
import { NO_OWN_ELEMENTS, takeServiceProperties } from "../service-properties.ts";
import { type QueueCall, serviceAskedOf } from "./call.ts";

export function handleSetServiceProperties(
  context: QueueContext,
  call: QueueCall,
): Promise<RestResponse> {
  return takeServiceProperties(context, serviceAskedOf(call), call.request, NO_OWN_ELEMENTS);
}
