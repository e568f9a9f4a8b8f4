import type { FileContext } from "../../../service/file/context.ts";
import type { RestResponse } from "../http/exchange.ts";
import { answerServiceProperties } from "../service-properties.ts";
import { type FileCall, serviceAskedOf } from "./call.ts";

export function handleGetServiceProperties(
  context: FileContext,
  call: FileCall,
): Promise<RestResponse> {
  return answerServiceProperties(context, serviceAskedOf(call));
}
