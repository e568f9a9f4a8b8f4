import { Fault } from "../../../base/fault.ts";
import { putRangeFromUrl } from "../../../service/file/put-range-from-url.ts";
import type { RestResponse } from "../http/exchange.ts";
import { crc64Of, invalidHeader, requireHeader, sourceDigestsOf } from "../request-headers.ts";
import { sourceRangeOf } from "../source/source-headers.ts";
import { requireNoBody } from "../stored-body.ts";
import { type FileCall, type FileFront, fileAskedOf, requireNoSnapshot } from "./call.ts";
import { preservesWritten, rangeWritten, writtenRangeOf } from "./put-range.ts";

export async function handlePutRangeFromUrl(
  context: FileFront,
  call: FileCall,
): Promise<RestResponse> {
  const { headers } = call.request;
  requireNoSnapshot(call);
  requireNoBody(call.request);
  const write = requireHeader(headers, "x-ms-write");
  if (write.toLowerCase() !== "update") {
    throw invalidHeader("x-ms-write", write, "With a source it must be update.");
  }
  const { from, until } = writtenRangeOf(headers);
  const text = requireHeader(headers, "x-ms-source-range");
  const sourceRange = sourceRangeOf(headers);
  if (sourceRange === null || sourceRange.to === null) {
    throw invalidHeader("x-ms-source-range", text, "Both ends are needed, as in bytes=0-511.");
  }
  if (sourceRange.to + 1 - sourceRange.from !== until - from) {
    throw new Fault("InvalidRange", {
      Reason: `The source's range must be as long as the one that is written: ${until - from} bytes.`,
    });
  }
  const done = await putRangeFromUrl(context, {
    ...fileAskedOf(call),
    from,
    until,
    preservesWritten: preservesWritten(headers),
    source: await context.sources.of(call, "file", "read"),
    sourceRange,
    digests: sourceDigestsOf(headers),
    ifMatchCrc64: crc64Of(headers, "x-ms-source-if-match-crc64"),
    ifNoneMatchCrc64: crc64Of(headers, "x-ms-source-if-none-match-crc64"),
  });
  return rangeWritten(done, []);
}
