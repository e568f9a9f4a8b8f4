import type { ServicePropertiesFound } from "../../../service/account/get-service-properties.ts";
import type { BlobContext } from "../../../service/blob/context.ts";
import type { RestResponse } from "../http/exchange.ts";
import { answerServiceProperties } from "../service-properties.ts";
import { element } from "../xml/write-xml.ts";
import { type BlobCall, serviceAskedOf } from "./call.ts";

export function handleGetServiceProperties(
  context: BlobContext,
  call: BlobCall,
): Promise<RestResponse> {
  return answerServiceProperties(context, serviceAskedOf(call), ownXml);
}

function ownXml({ deleteRetention }: ServicePropertiesFound): string {
  const terms =
    deleteRetention === null
      ? ""
      : element("Days", String(deleteRetention.days)) +
        element("AllowPermanentDelete", String(deleteRetention.allowsPermanentDelete));
  return (
    `<DeleteRetentionPolicy>${element("Enabled", String(deleteRetention !== null))}${terms}` +
    "</DeleteRetentionPolicy><StaticWebsite><Enabled>false</Enabled></StaticWebsite>"
  );
}
