import type { BlobContext } from "../../../service/blob/context.ts";
import { getContainerAcl } from "../../../service/blob/get-container-acl.ts";
import type { RestResponse } from "../http/exchange.ts";
import { leaseIdOf } from "../request-headers.ts";
import { versionHeaders, XML_CONTENT } from "../response-headers.ts";
import { signedIdentifiersXml } from "../signed-identifiers.ts";
import { addressOf, type BlobCall } from "./call.ts";
import { publicAccessHeaders } from "./public-access.ts";

export async function handleGetContainerAcl(
  context: BlobContext,
  call: BlobCall,
): Promise<RestResponse> {
  const container = await getContainerAcl(context, {
    at: addressOf(call),
    access: call.access,
    leaseId: leaseIdOf(call.request.headers),
  });
  return {
    status: 200,
    headers: [
      ...XML_CONTENT,
      ...versionHeaders(container),
      ...publicAccessHeaders(container.publicAccess),
    ],
    body: signedIdentifiersXml(container.policies),
  };
}
