import type { QueueContext } from "../../../service/queue/context.ts";
import type { RestResponse } from "../http/exchange.ts";
import { answerServiceStats } from "../service-properties.ts";
import { type QueueCall, serviceAskedOf } from "./call.ts";

export function handleGetServiceStats(
  context: QueueContext,
  call: QueueCall,
): Promise<RestResponse> {
  return answerServiceStats(context, serviceAskedOf(call), call);
}
