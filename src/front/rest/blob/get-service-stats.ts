import type { BlobContext } from "../../../service/blob/context.ts";
import type { RestResponse } from "../http/exchange.ts";
import { answerServiceStats } from "../service-properties.ts";
import { type BlobCall, serviceAskedOf } from "./call.ts";

export function handleGetServiceStats(context: BlobContext, call: BlobCall): Promise<RestResponse> {
  return answerServiceStats(context, serviceAskedOf(call), call);
}
