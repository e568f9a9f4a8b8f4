import type { FileContext } from "../../../service/file/context.ts";
import { getShareProperties } from "../../../service/file/get-share-properties.ts";
import type { RestResponse } from "../http/exchange.ts";
import { leaseHeaders, metadataHeaders, versionHeaders } from "../response-headers.ts";
import { type FileCall, shareUseOf } from "./call.ts";
import { quotaHeaders, tierHeaders } from "./share-headers.ts";

export async function handleGetShareProperties(
  context: FileContext,
  call: FileCall,
): Promise<RestResponse> {
  const { revision, lease, tier } = await getShareProperties(context, shareUseOf(call));
  const headers = [
    ...versionHeaders(revision),
    ...leaseHeaders(lease),
    ...quotaHeaders(revision.quotaGib),
    ...tierHeaders(tier),
    "x-ms-enabled-protocols",
    "SMB",
    ...metadataHeaders(revision.metadata),
  ];
  return { status: 200, headers, body: null };
}
