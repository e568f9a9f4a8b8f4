import { Fault } from "../../../base/fault.ts";
import { setServiceProperties } from "../../../service/account/set-service-properties.ts";
import type { BlobContext } from "../../../service/blob/context.ts";
import type { RestResponse } from "../http/exchange.ts";
import { SERVICE_PROPERTIES_BYTES_MAX, servicePropertiesOf } from "../service-properties-xml.ts";
import type { XmlElement } from "../xml/parse-xml.ts";
import { readXmlBody } from "../xml-body.ts";
import { childOf, refuseOtherChildren, requireFlag, requireRoot } from "../xml-nodes.ts";
import { type BlobCall, serviceAskedOf } from "./call.ts";

const ELEMENTS = [
  "Logging",
  "HourMetrics",
  "MinuteMetrics",
  "Cors",
  "DefaultServiceVersion",
  "DeleteRetentionPolicy",
  "StaticWebsite",
];

export async function handleSetServiceProperties(
  context: BlobContext,
  call: BlobCall,
): Promise<RestResponse> {
  const body = await readXmlBody(call.request, SERVICE_PROPERTIES_BYTES_MAX);
  const root = requireRoot(body, "StorageServiceProperties");
  refuseOtherChildren(root, ELEMENTS);
  refuseSwitchedOn(root, "DeleteRetentionPolicy");
  refuseSwitchedOn(root, "StaticWebsite");
  await setServiceProperties(context, {
    ...serviceAskedOf(call),
    changes: servicePropertiesOf(root),
  });
  return { status: 202, headers: [], body: null };
}

/** What we do not do yet can be switched off, which it is, but not on. */
function refuseSwitchedOn(root: XmlElement, name: string): void {
  const found = childOf(root, name);
  if (found === null || !requireFlag(found, "Enabled")) return;
  throw new Fault("UnsupportedXmlNode", {
    XmlNodeName: name,
    Reason: `This server does not support ${name} yet: send Enabled=false, or leave it out.`,
  });
}
