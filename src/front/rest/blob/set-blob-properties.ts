import type { BlobContext } from "../../../service/blob/context.ts";
import { setBlobProperties } from "../../../service/blob/set-blob-properties.ts";
import { keyOf } from "../customer-key.ts";
import type { RestResponse } from "../http/exchange.ts";
import { versionHeaders } from "../response-headers.ts";
import { type BlobCall, blobUseOf } from "./call.ts";
import { pageBlobLengthOf, sequenceActionOf } from "./page-headers.ts";
import { hasProperties, propertiesOf } from "./properties.ts";
import { requireSupportedOnWrite } from "./unsupported.ts";

const OF_PAGE_BLOBS = [
  "x-ms-blob-content-length",
  "x-ms-blob-sequence-number",
  "x-ms-sequence-number-action",
];

export async function handleSetBlobProperties(
  context: BlobContext,
  call: BlobCall,
): Promise<RestResponse> {
  const { headers } = call.request;
  requireSupportedOnWrite(call.request, OF_PAGE_BLOBS);
  const key = keyOf(call.request);
  const length = pageBlobLengthOf(headers);
  const sequence = sequenceActionOf(headers);
  // Only resizing or counting leaves the properties alone. Otherwise missing ones are cleared.
  const isAboutPages = length !== null || sequence !== null;
  const properties = isAboutPages && !hasProperties(headers) ? null : propertiesOf(headers);
  const done = await setBlobProperties(context, {
    ...blobUseOf(call),
    key,
    properties,
    length,
    sequence,
  });
  const answer = versionHeaders(done);
  if (done.sequenceNumber !== null) {
    answer.push("x-ms-blob-sequence-number", String(done.sequenceNumber));
  }
  return { status: 200, headers: answer, body: null };
}
