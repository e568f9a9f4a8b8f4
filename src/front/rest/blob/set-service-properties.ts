import { Fault } from "../../../base/fault.ts";
import { RETENTION_DAYS_MAX } from "../../../base/limits.ts";
import type { BlobContext } from "../../../service/blob/context.ts";
import type { DeleteRetention } from "../../../service/shared/delete-retention.ts";
import type { RestResponse } from "../http/exchange.ts";
import { type OwnElements, takeServiceProperties } from "../service-properties.ts";
import type { XmlElement } from "../xml/parse-xml.ts";
import { childOf, flagOf, numberIn, requireFlag, requireOnlyChildren } from "../xml-nodes.ts";
import { type BlobCall, serviceAskedOf } from "./call.ts";

const OWN_ELEMENTS: OwnElements = {
  names: ["DefaultServiceVersion", "DeleteRetentionPolicy", "StaticWebsite"],
  changes(root) {
    refuseSwitchedOn(root, "StaticWebsite");
    const policy = childOf(root, "DeleteRetentionPolicy");
    return policy === null ? {} : { deleteRetention: retentionOf(policy) };
  },
};

function retentionOf(policy: XmlElement): DeleteRetention | null {
  requireOnlyChildren(policy, ["Enabled", "Days", "AllowPermanentDelete"]);
  if (!requireFlag(policy, "Enabled")) return null;
  return {
    days: numberIn(policy, "Days", 1, RETENTION_DAYS_MAX),
    allowsPermanentDelete: flagOf(policy, "AllowPermanentDelete") ?? false,
  };
}

export function handleSetServiceProperties(
  context: BlobContext,
  call: BlobCall,
): Promise<RestResponse> {
  return takeServiceProperties(context, serviceAskedOf(call), call.request, OWN_ELEMENTS);
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
