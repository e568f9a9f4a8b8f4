import type { BlobContext } from "../../../service/blob/context.ts";
import { sealBlob } from "../../../service/blob/seal-blob.ts";
import type { RestResponse } from "../http/exchange.ts";
import { versionHeaders } from "../response-headers.ts";
import { appendPositionOf } from "./append-block.ts";
import { type BlobCall, blobUseOf } from "./call.ts";
import { requireAppendBlobsKnown } from "./create-blob.ts";
import { requireNoKey, requireSupportedOnWrite } from "./unsupported.ts";

export async function handleSealBlob(context: BlobContext, call: BlobCall): Promise<RestResponse> {
  const { headers } = call.request;
  requireAppendBlobsKnown(call.version);
  requireNoKey(call.request);
  requireSupportedOnWrite(call.request);
  const version = await sealBlob(context, {
    ...blobUseOf(call),
    position: appendPositionOf(headers),
  });
  return {
    status: 200,
    headers: [...versionHeaders(version), "x-ms-blob-sealed", "true"],
    body: null,
  };
}
