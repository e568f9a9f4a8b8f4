import type { FileContext } from "../../../service/file/context.ts";
import type { RestResponse } from "../http/exchange.ts";
import { answerServiceProperties } from "../service-properties.ts";
import { type FileCall, serviceAskedOf } from "./call.ts";

const PROTOCOL_SETTINGS =
  "<ProtocolSettings><SMB><Multichannel><Enabled>false</Enabled></Multichannel></SMB>" +
  "</ProtocolSettings>";

export function handleGetServiceProperties(
  context: FileContext,
  call: FileCall,
): Promise<RestResponse> {
  return answerServiceProperties(context, serviceAskedOf(call), () => PROTOCOL_SETTINGS);
}
