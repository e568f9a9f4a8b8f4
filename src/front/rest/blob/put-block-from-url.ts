import { putBlockFromUrl } from "../../../service/blob/put-block-from-url.ts";
import { encryptedHeaders, keyOf } from "../customer-key.ts";
import type { RestResponse } from "../http/exchange.ts";
import { leaseIdOf, requireNoHeaders, sourceDigestsOf } from "../request-headers.ts";
import { digestHeaders } from "../response-headers.ts";
import { sourceRangeOf } from "../source/source-headers.ts";
import { putBlockBytesMax } from "./body-limits.ts";
import { addressOf, type BlobCall, type BlobFront } from "./call.ts";
import { digestsOfSource } from "./computed-digests.ts";
import { blockIdOf } from "./put-block.ts";
import { sourceOf } from "./source-headers.ts";
import { requireSupportedOnWrite } from "./unsupported.ts";

export async function handlePutBlockFromUrl(
  context: BlobFront,
  call: BlobCall,
): Promise<RestResponse> {
  requireSupportedOnWrite(call.request);
  requireNoHeaders(call.request.headers, ["x-ms-if-tags"]);
  const key = keyOf(call.request);
  const { headers, query } = call.request;
  const digests = sourceDigestsOf(headers);
  const done = await putBlockFromUrl(context, {
    at: addressOf(call),
    access: call.access,
    blockId: blockIdOf(query),
    key,
    leaseId: leaseIdOf(headers),
    source: await sourceOf(context, call),
    range: sourceRangeOf(headers),
    bytesMax: putBlockBytesMax(call.version),
    digests,
    computed: digestsOfSource(call.version, digests),
  });
  return {
    status: 201,
    headers: [...digestHeaders(done), ...encryptedHeaders(key)],
    body: null,
  };
}
