import type { FileContext } from "../../../service/file/context.ts";
import { getShareAcl } from "../../../service/file/get-share-acl.ts";
import type { RestResponse } from "../http/exchange.ts";
import { versionHeaders, XML_CONTENT } from "../response-headers.ts";
import { signedIdentifiersXml } from "../signed-identifiers.ts";
import { type FileCall, requireNoSnapshot, shareUseOf } from "./call.ts";

export async function handleGetShareAcl(
  context: FileContext,
  call: FileCall,
): Promise<RestResponse> {
  requireNoSnapshot(call);
  const share = await getShareAcl(context, shareUseOf(call));
  return {
    status: 200,
    headers: [...XML_CONTENT, ...versionHeaders(share)],
    body: signedIdentifiersXml(share.policies),
  };
}
