import { Fault } from "../../../base/fault.ts";
import { putPageFromUrl } from "../../../service/blob/put-page-from-url.ts";
import type { RestResponse } from "../http/exchange.ts";
import { invalidHeader, requireHeader, sourceDigestsOf } from "../request-headers.ts";
import { sourceRangeOf } from "../source/source-headers.ts";
import type { BlobCall, BlobFront } from "./call.ts";
import { digestsOfSource } from "./computed-digests.ts";
import { requirePageBlobsKnown } from "./create-blob.ts";
import { pagesWritten, pageWriteOf } from "./put-page.ts";
import { sourceOf } from "./source-headers.ts";
import { requireSupportedOnWrite } from "./unsupported.ts";

export async function handlePutPageFromUrl(
  context: BlobFront,
  call: BlobCall,
): Promise<RestResponse> {
  requirePageBlobsKnown(call.version);
  requireSupportedOnWrite(call.request);
  const { headers } = call.request;
  const write = requireHeader(headers, "x-ms-page-write").toLowerCase();
  if (write !== "update") {
    throw invalidHeader("x-ms-page-write", write, "With a source it must be update.");
  }
  const text = requireHeader(headers, "x-ms-source-range");
  const asked = pageWriteOf(call);
  const sourceRange = sourceRangeOf(headers);
  const length = asked.range.until - asked.range.from;
  if (sourceRange === null || sourceRange.to === null) {
    throw invalidHeader("x-ms-source-range", text, "Both ends are needed, as in bytes=0-511.");
  }
  if (sourceRange.to + 1 - sourceRange.from !== length) {
    throw new Fault("InvalidPageRange", {
      Reason: `The source's range must be as long as the pages that are written: ${length} bytes.`,
    });
  }
  const source = await sourceOf(context, call);
  const digests = sourceDigestsOf(headers);
  const computed = digestsOfSource(call.version, digests);
  return pagesWritten(
    await putPageFromUrl(context, { ...asked, source, sourceRange, digests, computed }),
    asked.key,
  );
}
