import type { FileContext } from "../../../service/file/context.ts";
import { getShareMetadata } from "../../../service/file/get-share-metadata.ts";
import type { RestResponse } from "../http/exchange.ts";
import { metadataHeaders, versionHeaders } from "../response-headers.ts";
import { type FileCall, shareUseOf } from "./call.ts";

export async function handleGetShareMetadata(
  context: FileContext,
  call: FileCall,
): Promise<RestResponse> {
  const { revision } = await getShareMetadata(context, shareUseOf(call));
  return {
    status: 200,
    headers: [...versionHeaders(revision), ...metadataHeaders(revision.metadata)],
    body: null,
  };
}
