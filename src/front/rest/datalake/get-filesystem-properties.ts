import { getContainerProperties } from "../../../service/blob/get-container-properties.ts";
import type { BlobFront } from "../blob/call.ts";
import type { RestResponse } from "../http/exchange.ts";
import { leaseIdOf } from "../request-headers.ts";
import { versionHeaders } from "../response-headers.ts";
import { addressOf, type DataLakeCall } from "./call.ts";
import { namespaceHeaders } from "./namespace-headers.ts";
import { propertyPairHeaders } from "./path-properties.ts";

export async function handleGetFilesystemProperties(
  context: BlobFront,
  call: DataLakeCall,
): Promise<RestResponse> {
  const { container } = await getContainerProperties(context, {
    at: addressOf(call),
    access: call.access,
    leaseId: leaseIdOf(call.request.headers),
  });
  return {
    status: 200,
    headers: [
      ...versionHeaders(container),
      ...propertyPairHeaders(container.metadata),
      ...namespaceHeaders(container),
    ],
    body: null,
  };
}
