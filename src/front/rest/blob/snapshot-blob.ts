import { isoOfStamp } from "../../../base/stamp.ts";
import type { BlobContext } from "../../../service/blob/context.ts";
import { snapshotBlob } from "../../../service/blob/snapshot-blob.ts";
import { encryptedHeaders, keyOf } from "../customer-key.ts";
import type { RestResponse } from "../http/exchange.ts";
import { metadataOf } from "../request-headers.ts";
import { writtenHeaders } from "./blob-revision.ts";
import { type BlobCall, blobUseOf } from "./call.ts";
import { requireSupportedOnWrite } from "./unsupported.ts";

export async function handleSnapshotBlob(
  context: BlobContext,
  call: BlobCall,
): Promise<RestResponse> {
  requireSupportedOnWrite(call.request);
  const key = keyOf(call.request);
  const metadata = metadataOf(call.request.headers);
  const done = await snapshotBlob(context, {
    ...blobUseOf(call),
    key,
    metadata: metadata.length === 0 ? null : metadata,
  });
  return {
    status: 201,
    headers: [
      ...writtenHeaders(done),
      "x-ms-snapshot",
      isoOfStamp(done.snapshot),
      ...encryptedHeaders(key),
    ],
    body: null,
  };
}
