import { PAGE_RANGES_MAX } from "../../../base/limits.ts";
import type { BlobContext } from "../../../service/blob/context.ts";
import { getPageRanges } from "../../../service/blob/get-page-ranges.ts";
import type { Range } from "../../../store/range-map.ts";
import { rangeOf } from "../byte-range.ts";
import type { RestResponse } from "../http/exchange.ts";
import { nextOffsetElement, offsetMarkerOf, rangesMaxOf } from "../range-pages.ts";
import { requireNoHeaders } from "../request-headers.ts";
import { versionHeaders, XML_CONTENT } from "../response-headers.ts";
import { XML_DECLARATION } from "../xml/write-xml.ts";
import { XmlBytes } from "../xml/xml-bytes.ts";
import { stampFromQuery } from "./blob-revision.ts";
import { type BlobCall, blobReadOf } from "./call.ts";
import { requirePageBlobsKnown } from "./create-blob.ts";
import { requireNoKey } from "./unsupported.ts";

/** Clients of older versions do not know paged lists. */
const PAGED_SINCE = "2020-10-02";

export async function handleGetPageRanges(
  context: BlobContext,
  call: BlobCall,
): Promise<RestResponse> {
  const { headers, query } = call.request;
  requirePageBlobsKnown(call.version);
  requireNoKey(call.request);
  requireNoHeaders(headers, ["x-ms-previous-snapshot-url"]);
  const { blob, ranges, next } = await getPageRanges(context, {
    ...blobReadOf(call),
    range: rangeOf(headers),
    since: stampFromQuery(query, "prevsnapshot"),
    after: offsetMarkerOf(query),
    resultsMax:
      call.version >= PAGED_SINCE ? rangesMaxOf(query, PAGE_RANGES_MAX) : Number.POSITIVE_INFINITY,
  });
  const xml = new XmlBytes(call.hidden, call.request.rendering);
  xml.add(`${XML_DECLARATION}<PageList>`);
  await xml.addAll(ranges, rangeElement);
  xml.add(`${nextOffsetElement(next)}</PageList>`);
  return {
    status: 200,
    headers: [
      ...XML_CONTENT,
      ...versionHeaders(blob),
      "x-ms-blob-content-length",
      String(blob.content.length),
    ],
    body: xml.done(),
  };
}

function rangeElement({ start, end, isCleared }: Range): string {
  const name = isCleared ? "ClearRange" : "PageRange";
  return `<${name}><Start>${start}</Start><End>${end - 1}</End></${name}>`;
}
