import type { BlobContext } from "../../../service/blob/context.ts";
import { getContainerMetadata } from "../../../service/blob/get-container-metadata.ts";
import type { RestResponse } from "../http/exchange.ts";
import { leaseIdOf } from "../request-headers.ts";
import { metadataHeaders, versionHeaders } from "../response-headers.ts";
import { addressOf, type BlobCall } from "./call.ts";

export async function handleGetContainerMetadata(
  context: BlobContext,
  call: BlobCall,
): Promise<RestResponse> {
  const container = await getContainerMetadata(context, {
    at: addressOf(call),
    access: call.access,
    leaseId: leaseIdOf(call.request.headers),
  });
  return {
    status: 200,
    headers: [...versionHeaders(container), ...metadataHeaders(container.metadata)],
    body: null,
  };
}
