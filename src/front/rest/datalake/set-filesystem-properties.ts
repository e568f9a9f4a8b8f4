import { setContainerMetadata } from "../../../service/blob/set-container-metadata.ts";
import type { BlobFront } from "../blob/call.ts";
import type { RestResponse } from "../http/exchange.ts";
import { versionHeaders } from "../response-headers.ts";
import { type DataLakeCall, filesystemUpdateOf } from "./call.ts";
import { propertyPairsOf } from "./path-properties.ts";

export async function handleSetFilesystemProperties(
  context: BlobFront,
  call: DataLakeCall,
): Promise<RestResponse> {
  const version = await setContainerMetadata(context, {
    ...filesystemUpdateOf(call),
    metadata: propertyPairsOf(call.request.headers) ?? [],
  });
  return { status: 200, headers: versionHeaders(version), body: null };
}
