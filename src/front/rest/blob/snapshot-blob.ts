import { isoOfStamp } from "../../../base/stamp.ts";
import type { BlobContext } from "../../../service/blob/context.ts";
import { snapshotBlob } from "../../../service/blob/snapshot-blob.ts";
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
  const metadata = metadataOf(call.request.headers);
  const done = await snapshotBlob(context, {
    ...blobUseOf(call),
    metadata: metadata.length === 0 ? null : metadata,
  });
  return {
    status: 201,
    headers: [
      ...writtenHeaders(done),
      "x-ms-snapshot",
      isoOfStamp(done.snapshot),
      "x-ms-request-server-encrypted",
      "true",
    ],
    body: null,
  };
}
