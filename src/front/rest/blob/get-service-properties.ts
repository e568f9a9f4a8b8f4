import type { BlobContext } from "../../../service/blob/context.ts";
import type { RestResponse } from "../http/exchange.ts";
import { answerServiceProperties } from "../service-properties.ts";
import { type BlobCall, serviceAskedOf } from "./call.ts";

const SWITCHED_OFF =
  "<DeleteRetentionPolicy><Enabled>false</Enabled></DeleteRetentionPolicy>" +
  "<StaticWebsite><Enabled>false</Enabled></StaticWebsite>";

export function handleGetServiceProperties(
  context: BlobContext,
  call: BlobCall,
): Promise<RestResponse> {
  return answerServiceProperties(context, serviceAskedOf(call), SWITCHED_OFF);
}
