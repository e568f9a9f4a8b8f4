import { getBlob } from "../../../service/blob/get-blob.ts";
import type { BlobFront } from "../blob/call.ts";
import { readingAnswer } from "../blob/reading-answer.ts";
import { rangeDigestsOf, rangeOf } from "../byte-range.ts";
import { encryptedHeaders, readKeyOf } from "../customer-key.ts";
import type { RestResponse } from "../http/exchange.ts";
import { structuredFormOf } from "../stored-body.ts";
import { type DataLakeCall, keyedPathUseOf } from "./call.ts";
import { pathHeaders } from "./path-headers.ts";

export async function handleReadPath(
  context: BlobFront,
  call: DataLakeCall,
): Promise<RestResponse> {
  const { headers } = call.request;
  const range = rangeOf(headers);
  const form = structuredFormOf(headers);
  const use = keyedPathUseOf(call, readKeyOf(call.request));
  const done = await getBlob(context, {
    ...use,
    at: { ...use.at, revision: null },
    range,
    digests: rangeDigestsOf(headers, range),
  });
  return readingAnswer(done, [...pathHeaders(done), ...encryptedHeaders(use.key)], {
    isRange: range !== null,
    form,
    overrides: call.overrides,
    wholeMd5: "x-ms-content-md5",
  });
}
