import type { BlobContext } from "../../../service/blob/context.ts";
import { getBlobMetadata } from "../../../service/blob/get-blob-metadata.ts";
import { readKeyOf } from "../customer-key.ts";
import type { RestResponse } from "../http/exchange.ts";
import { metadataHeaders } from "../response-headers.ts";
import { writtenHeaders } from "./blob-revision.ts";
import { type BlobCall, blobReadOf } from "./call.ts";

export async function handleGetBlobMetadata(
  context: BlobContext,
  call: BlobCall,
): Promise<RestResponse> {
  const key = readKeyOf(call.request);
  const blob = await getBlobMetadata(context, { ...blobReadOf(call), key });
  return {
    status: 200,
    headers: [...writtenHeaders(blob), ...metadataHeaders(blob.metadata)],
    body: null,
  };
}
