import { createContainer } from "../../../service/blob/create-container.ts";
import type { BlobFront } from "../blob/call.ts";
import { publicAccessOf } from "../blob/public-access.ts";
import type { RestResponse } from "../http/exchange.ts";
import { versionHeaders } from "../response-headers.ts";
import { addressOf, type DataLakeCall } from "./call.ts";
import { namespaceHeaders } from "./namespace-headers.ts";
import { propertyPairsOf } from "./path-properties.ts";

export async function handleCreateFilesystem(
  context: BlobFront,
  call: DataLakeCall,
): Promise<RestResponse> {
  const { headers } = call.request;
  const done = await createContainer(context, {
    at: addressOf(call),
    access: call.access,
    publicAccess: publicAccessOf(headers),
    metadata: propertyPairsOf(headers) ?? [],
    isDataLake: true,
  });
  return {
    status: 201,
    headers: [...versionHeaders(done), ...namespaceHeaders(done)],
    body: null,
  };
}
