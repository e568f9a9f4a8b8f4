import { SHARE_QUOTA_GIB_DEFAULT } from "../../../base/limits.ts";
import type { FileContext } from "../../../service/file/context.ts";
import { createShare } from "../../../service/file/create-share.ts";
import type { RestResponse } from "../http/exchange.ts";
import { pastOf } from "../past.ts";
import { metadataOf } from "../request-headers.ts";
import { versionHeaders } from "../response-headers.ts";
import { type FileCall, requireNoSnapshot, shareAskedOf } from "./call.ts";
import { quotaHeaders, quotaOf, requireSupportedOnShare, tierOf } from "./share-headers.ts";

export async function handleCreateShare(
  context: FileContext,
  call: FileCall,
): Promise<RestResponse> {
  const { headers } = call.request;
  requireNoSnapshot(call);
  requireSupportedOnShare(headers);
  const quotaGib = quotaOf(headers) ?? SHARE_QUOTA_GIB_DEFAULT;
  const version = await createShare(context, {
    ...shareAskedOf(call),
    metadata: metadataOf(headers),
    past: pastOf(headers),
    quotaGib,
    tier: tierOf(headers) ?? "TransactionOptimized",
  });
  return {
    status: 201,
    headers: [...versionHeaders(version), ...quotaHeaders(quotaGib)],
    body: null,
  };
}
