import type { BlobContext } from "../../../service/blob/context.ts";
import { setBlobMetadata } from "../../../service/blob/set-blob-metadata.ts";
import { encryptedHeaders, keyOf } from "../customer-key.ts";
import type { RestResponse } from "../http/exchange.ts";
import { metadataOf } from "../request-headers.ts";
import { writtenHeaders } from "./blob-revision.ts";
import { type BlobCall, blobUseOf } from "./call.ts";
import { requireSupportedOnWrite } from "./unsupported.ts";

export async function handleSetBlobMetadata(
  context: BlobContext,
  call: BlobCall,
): Promise<RestResponse> {
  const { headers } = call.request;
  requireSupportedOnWrite(call.request);
  const key = keyOf(call.request);
  const version = await setBlobMetadata(context, {
    ...blobUseOf(call),
    key,
    metadata: metadataOf(headers),
  });
  return {
    status: 200,
    headers: [...writtenHeaders(version), ...encryptedHeaders(key)],
    body: null,
  };
}
