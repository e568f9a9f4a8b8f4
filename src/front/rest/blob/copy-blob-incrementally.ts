import { copyBlobIncrementally } from "../../../service/blob/copy-blob-incrementally.ts";
import type { RestResponse } from "../http/exchange.ts";
import { requireNoMetadata } from "../request-headers.ts";
import { type BlobCall, type BlobFront, blobUseOf } from "./call.ts";
import { copyBegun } from "./copy-blob.ts";
import { requirePageBlobsKnown } from "./create-blob.ts";
import { ownBlobOf } from "./source-headers.ts";
import { requireNoKey, requireSupportedOnWrite } from "./unsupported.ts";

export async function handleCopyBlobIncrementally(
  context: BlobFront,
  call: BlobCall,
): Promise<RestResponse> {
  requirePageBlobsKnown(call.version);
  requireNoKey(call.request);
  requireSupportedOnWrite(call.request);
  requireNoMetadata(call.request.headers);
  const source = await ownBlobOf(context, call);
  return copyBegun(await copyBlobIncrementally(context, { ...blobUseOf(call), source }));
}
