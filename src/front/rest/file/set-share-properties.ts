import type { FileContext } from "../../../service/file/context.ts";
import { setShareProperties } from "../../../service/file/set-share-properties.ts";
import type { RestResponse } from "../http/exchange.ts";
import { versionHeaders } from "../response-headers.ts";
import { type FileCall, requireNoSnapshot, shareUseOf } from "./call.ts";
import { quotaHeaders, quotaOf, requireSupportedOnShare, tierOf } from "./share-headers.ts";

export async function handleSetShareProperties(
  context: FileContext,
  call: FileCall,
): Promise<RestResponse> {
  const { headers } = call.request;
  requireNoSnapshot(call);
  requireSupportedOnShare(headers);
  const share = await setShareProperties(context, {
    ...shareUseOf(call),
    quotaGib: quotaOf(headers),
    tier: tierOf(headers),
  });
  return {
    status: 200,
    headers: [...versionHeaders(share), ...quotaHeaders(share.quotaGib)],
    body: null,
  };
}
