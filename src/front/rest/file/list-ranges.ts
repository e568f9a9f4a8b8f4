import { Fault } from "../../../base/fault.ts";
import { FILE_RANGES_MAX } from "../../../base/limits.ts";
import type { FileContext } from "../../../service/file/context.ts";
import { listRanges } from "../../../service/file/list-ranges.ts";
import type { Range } from "../../../store/range-map.ts";
import { rangeOf } from "../byte-range.ts";
import type { RestResponse } from "../http/exchange.ts";
import { nextOffsetElement, offsetMarkerOf, rangesMaxOf } from "../range-pages.ts";
import { flagOf } from "../request-headers.ts";
import { versionHeaders, XML_CONTENT } from "../response-headers.ts";
import { XML_DECLARATION } from "../xml/write-xml.ts";
import { XmlBytes } from "../xml/xml-bytes.ts";
import { type FileCall, fileAskedOf, snapshotFrom } from "./call.ts";

/** Clients of older versions cannot continue a list. */
const PAGED_SINCE = "2026-10-06";

export async function handleListRanges(
  context: FileContext,
  call: FileCall,
): Promise<RestResponse> {
  const { headers, query } = call.request;
  const asked = fileAskedOf(call);
  const since = snapshotFrom(query, "prevsharesnapshot");
  if (since !== null && asked.at.snapshot !== null && since > asked.at.snapshot) {
    throw new Fault("InvalidQueryParameterValue", {
      QueryParameterName: "prevsharesnapshot",
      QueryParameterValue: query.get("prevsharesnapshot") ?? "",
      Reason: "It must be older than sharesnapshot.",
    });
  }
  const isPaged = call.version >= PAGED_SINCE;
  const { file, ranges, next } = await listRanges(context, {
    ...asked,
    range: rangeOf(headers),
    since,
    after: isPaged ? offsetMarkerOf(query) : null,
    resultsMax: isPaged ? rangesMaxOf(query, FILE_RANGES_MAX) : Number.POSITIVE_INFINITY,
    followsRenames: flagOf(headers, "x-ms-file-support-rename"),
  });
  const xml = new XmlBytes(call.hidden, call.request.rendering);
  xml.add(`${XML_DECLARATION}<Ranges>`);
  await xml.addAll(ranges, rangeElement);
  xml.add(`${nextOffsetElement(next)}</Ranges>`);
  return {
    status: 200,
    headers: [
      ...XML_CONTENT,
      ...versionHeaders(file),
      "x-ms-content-length",
      String(file.content.length),
    ],
    body: xml.done(),
  };
}

function rangeElement({ start, end, isCleared }: Range): string {
  const name = isCleared ? "ClearRange" : "Range";
  return `<${name}><Start>${start}</Start><End>${end - 1}</End></${name}>`;
}
