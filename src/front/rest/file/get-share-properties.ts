import { rfc1123 } from "../../../base/time-text.ts";
import type { FileContext } from "../../../service/file/context.ts";
import { getShareProperties } from "../../../service/file/get-share-properties.ts";
import type { RestResponse } from "../http/exchange.ts";
import { leaseHeaders, metadataHeaders, versionHeaders } from "../response-headers.ts";
import { type FileCall, shareUseOf } from "./call.ts";
import { quotaHeaders } from "./share-headers.ts";

export async function handleGetShareProperties(
  context: FileContext,
  call: FileCall,
): Promise<RestResponse> {
  const { share, state, lease } = await getShareProperties(context, shareUseOf(call));
  const headers = [
    ...versionHeaders(state),
    ...leaseHeaders(lease),
    ...quotaHeaders(state.quotaGib),
    "x-ms-access-tier",
    share.tier,
    "x-ms-enabled-protocols",
    "SMB",
    ...metadataHeaders(state.metadata),
  ];
  if (share.tierChangedMs !== null) {
    headers.push("x-ms-access-tier-change-time", rfc1123(share.tierChangedMs));
  }
  return { status: 200, headers, body: null };
}
