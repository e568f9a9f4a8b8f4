import { getServiceProperties } from "../../../service/account/get-service-properties.ts";
import type { BlobContext } from "../../../service/blob/context.ts";
import type { RestResponse } from "../http/exchange.ts";
import { XML_CONTENT } from "../response-headers.ts";
import { servicePropertiesXml } from "../service-properties-xml.ts";
import { XML_DECLARATION } from "../xml/write-xml.ts";
import { type BlobCall, serviceAskedOf } from "./call.ts";

const SWITCHED_OFF =
  "<DeleteRetentionPolicy><Enabled>false</Enabled></DeleteRetentionPolicy>" +
  "<StaticWebsite><Enabled>false</Enabled></StaticWebsite>";

export async function handleGetServiceProperties(
  context: BlobContext,
  call: BlobCall,
): Promise<RestResponse> {
  const properties = await getServiceProperties(context, serviceAskedOf(call));
  const body = servicePropertiesXml(properties) + SWITCHED_OFF;
  return {
    status: 200,
    headers: [...XML_CONTENT],
    body: `${XML_DECLARATION}<StorageServiceProperties>${body}</StorageServiceProperties>`,
  };
}
