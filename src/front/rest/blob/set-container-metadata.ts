import type { BlobContext } from "../../../service/blob/context.ts";
import { setContainerMetadata } from "../../../service/blob/set-container-metadata.ts";
import type { RestResponse } from "../http/exchange.ts";
import { metadataOf } from "../request-headers.ts";
import { versionHeaders } from "../response-headers.ts";
import { type BlobCall, containerUpdateOf } from "./call.ts";

export async function handleSetContainerMetadata(
  context: BlobContext,
  call: BlobCall,
): Promise<RestResponse> {
  const version = await setContainerMetadata(context, {
    ...containerUpdateOf(call),
    metadata: metadataOf(call.request.headers),
  });
  return { status: 200, headers: versionHeaders(version), body: null };
}
