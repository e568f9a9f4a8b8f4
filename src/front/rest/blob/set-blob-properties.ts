import type { BlobContext } from "../../../service/blob/context.ts";
import { setBlobProperties } from "../../../service/blob/set-blob-properties.ts";
import type { RestResponse } from "../http/exchange.ts";
import { versionHeaders } from "../response-headers.ts";
import { type BlobCall, blobUseOf } from "./call.ts";
import { propertiesOf } from "./properties.ts";
import { refuseUnsupportedOnWrite } from "./unsupported.ts";

export async function handleSetBlobProperties(
  context: BlobContext,
  call: BlobCall,
): Promise<RestResponse> {
  const { headers } = call.request;
  refuseUnsupportedOnWrite(call.request);
  const version = await setBlobProperties(context, {
    ...blobUseOf(call),
    properties: propertiesOf(headers),
  });
  return { status: 200, headers: versionHeaders(version), body: null };
}
