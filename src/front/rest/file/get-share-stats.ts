import { GIB } from "../../../base/limits.ts";
import type { FileContext } from "../../../service/file/context.ts";
import { getShareStats } from "../../../service/file/get-share-stats.ts";
import type { RestResponse } from "../http/exchange.ts";
import { versionHeaders, XML_CONTENT } from "../response-headers.ts";
import { element, XML_DECLARATION } from "../xml/write-xml.ts";
import { type FileCall, requireNoSnapshot, shareUseOf } from "./call.ts";

export async function handleGetShareStats(
  context: FileContext,
  call: FileCall,
): Promise<RestResponse> {
  requireNoSnapshot(call);
  const { share, usedBytes } = await getShareStats(context, shareUseOf(call));
  const usage = usageElement(usedBytes, call.version);
  return {
    status: 200,
    headers: [...XML_CONTENT, ...versionHeaders(share)],
    body: `${XML_DECLARATION}<ShareStats>${usage}</ShareStats>`,
  };
}

/** Before this version, the usage was given in whole gibibytes. */
const BYTES_SINCE = "2018-11-09";

function usageElement(usedBytes: number, version: string): string {
  if (version < BYTES_SINCE) return element("ShareUsage", String(Math.ceil(usedBytes / GIB)));
  return element("ShareUsageBytes", String(usedBytes));
}
