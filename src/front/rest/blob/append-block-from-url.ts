import { appendBlockFromUrl } from "../../../service/blob/append-block-from-url.ts";
import { keyOf } from "../customer-key.ts";
import type { RestResponse } from "../http/exchange.ts";
import { sourceDigestsOf } from "../request-headers.ts";
import { sourceRangeOf } from "../source/source-headers.ts";
import { appendConditionsOf, appended } from "./append-block.ts";
import { appendBlockBytesMax } from "./body-limits.ts";
import { type BlobCall, type BlobFront, blobUseOf } from "./call.ts";
import { digestsOfSource } from "./computed-digests.ts";
import { requireAppendBlobsKnown } from "./create-blob.ts";
import { sourceOf } from "./source-headers.ts";
import { requireSupportedOnWrite } from "./unsupported.ts";

export async function handleAppendBlockFromUrl(
  context: BlobFront,
  call: BlobCall,
): Promise<RestResponse> {
  requireSupportedOnWrite(call.request);
  const key = keyOf(call.request);
  const { headers } = call.request;
  requireAppendBlobsKnown(call.version);
  const digests = sourceDigestsOf(headers);
  const done = await appendBlockFromUrl(context, {
    ...blobUseOf(call),
    key,
    append: appendConditionsOf(headers),
    source: await sourceOf(context, call),
    range: sourceRangeOf(headers),
    bytesMax: appendBlockBytesMax(call.version),
    digests,
    computed: digestsOfSource(call.version, digests),
  });
  return appended(done, key);
}
