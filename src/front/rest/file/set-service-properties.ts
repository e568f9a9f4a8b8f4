import { Fault } from "../../../base/fault.ts";
import type { FileContext } from "../../../service/file/context.ts";
import type { RestResponse } from "../http/exchange.ts";
import { type OwnElements, takeServiceProperties } from "../service-properties.ts";
import type { XmlElement } from "../xml/parse-xml.ts";
import { childOf, requireFlag, requireOnlyChildren } from "../xml-nodes.ts";
import { type FileCall, serviceAskedOf } from "./call.ts";

const OWN_ELEMENTS: OwnElements = {
  names: ["ProtocolSettings"],
  changes(root) {
    const settings = childOf(root, "ProtocolSettings");
    if (settings !== null) {
      requireOnlyChildren(settings, ["SMB", "NFS"]);
      for (const protocol of settings.children) checkProtocol(protocol);
    }
    return {};
  },
};

export function handleSetServiceProperties(
  context: FileContext,
  call: FileCall,
): Promise<RestResponse> {
  return takeServiceProperties(context, serviceAskedOf(call), call.request, OWN_ELEMENTS);
}

/**
 * Checks the SMB settings, which are set when the server starts: a request can confirm but not
 * change them.
 */
function checkProtocol(protocol: XmlElement): void {
  requireOnlyChildren(protocol, ["Multichannel", "EncryptionInTransit"]);
  requireSwitchedOff(protocol, "Multichannel", "Enabled");
  requireSwitchedOff(protocol, "EncryptionInTransit", "Required");
}

function requireSwitchedOff(protocol: XmlElement, name: string, flag: string): void {
  const found = childOf(protocol, name);
  if (found === null || !requireFlag(found, flag)) return;
  throw new Fault("UnsupportedXmlNode", {
    XmlNodeName: name,
    Reason:
      name === "Multichannel"
        ? "This server has one channel for a session: send Enabled=false, or leave it out."
        : "Encryption of SMB is set when the server is started: see --smbEncryption.",
  });
}
