import type { QueueContext } from "../../../service/queue/context.ts";
import { SERVICE_LETTERS } from "../auth/resource.ts";
import type { RestResponse } from "../http/exchange.ts";
import { answerUserDelegationKey } from "../user-delegation-key-answer.ts";
import type { QueueCall } from "./call.ts";

export function handleGetUserDelegationKey(
  _context: QueueContext,
  call: QueueCall,
): Promise<RestResponse> {
  return answerUserDelegationKey(call, SERVICE_LETTERS.queue);
}
