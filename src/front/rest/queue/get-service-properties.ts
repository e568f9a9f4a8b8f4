import type { QueueContext } from "../../../service/queue/context.ts";
import type { RestResponse } from "../http/exchange.ts";
import { answerServiceProperties } from "../service-properties.ts";
import { type QueueCall, serviceAskedOf } from "./call.ts";

export function handleGetServiceProperties(
  context: QueueContext,
  call: QueueCall,
): Promise<RestResponse> {
  return answerServiceProperties(context, serviceAskedOf(call));
}
