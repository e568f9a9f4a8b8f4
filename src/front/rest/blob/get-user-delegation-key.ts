import type { BlobContext } from "../../../service/blob/context.ts";
import { SERVICE_LETTERS } from "../auth/resource.ts";
import type { RestResponse } from "../http/exchange.ts";
import { answerUserDelegationKey } from "../user-delegation-key-answer.ts";
import type { BlobCall } from "./call.ts";

export function handleGetUserDelegationKey(
  _context: BlobContext,
  call: BlobCall,
): Promise<RestResponse> {
  return answerUserDelegationKey(call, SERVICE_LETTERS.blob);
}
