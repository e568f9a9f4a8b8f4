import type { FileContext } from "../../../service/file/context.ts";
import { setShareMetadata } from "../../../service/file/set-share-metadata.ts";
import type { RestResponse } from "../http/exchange.ts";
import { metadataOf } from "../request-headers.ts";
import { versionHeaders } from "../response-headers.ts";
import { type FileCall, requireNoSnapshot, shareUseOf } from "./call.ts";

export async function handleSetShareMetadata(
  context: FileContext,
  call: FileCall,
): Promise<RestResponse> {
  requireNoSnapshot(call);
  const metadata = metadataOf(call.request.headers);
  const version = await setShareMetadata(context, { ...shareUseOf(call), metadata });
  return { status: 200, headers: versionHeaders(version), body: null };
}
