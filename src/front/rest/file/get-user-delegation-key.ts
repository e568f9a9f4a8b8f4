import type { FileContext } from "../../../service/file/context.ts";
import { SERVICE_LETTERS } from "../auth/resource.ts";
import type { RestResponse } from "../http/exchange.ts";
import { answerUserDelegationKey } from "../user-delegation-key-answer.ts";
import type { FileCall } from "./call.ts";

export function handleGetUserDelegationKey(
  _context: FileContext,
  call: FileCall,
): Promise<RestResponse> {
  return answerUserDelegationKey(call, SERVICE_LETTERS.file);
}
