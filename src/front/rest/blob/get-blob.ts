import type { BlobContext } from "../../../service/blob/context.ts";
import { getBlob } from "../../../service/blob/get-blob.ts";
import { rangeDigestsOf, rangeOf } from "../byte-range.ts";
import { readKeyOf } from "../customer-key.ts";
import type { RestResponse } from "../http/exchange.ts";
import { leaseIdOf } from "../request-headers.ts";
import { structuredFormOf } from "../stored-body.ts";
import { blobConditionsOf } from "./blob-conditions.ts";
import { blobHeaders } from "./blob-headers.ts";
import { type BlobCall, readsArchived, revisionAddressOf } from "./call.ts";
import { readingAnswer } from "./reading-answer.ts";

export async function handleGetBlob(context: BlobContext, call: BlobCall): Promise<RestResponse> {
  const { headers } = call.request;
  const key = readKeyOf(call.request);
  const range = rangeOf(headers);
  const form = structuredFormOf(headers);
  const done = await getBlob(context, {
    at: revisionAddressOf(call),
    access: call.access,
    leaseId: leaseIdOf(headers),
    withArchived: readsArchived(call),
    conditions: blobConditionsOf(headers),
    key,
    range,
    digests: rangeDigestsOf(headers, range),
  });
  return readingAnswer(done, blobHeaders(done), {
    isRange: range !== null,
    form,
    overrides: call.overrides,
    wholeMd5: "x-ms-blob-content-md5",
  });
}
