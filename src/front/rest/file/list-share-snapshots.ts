import { isoOfStamp } from "../../../base/stamp.ts";
import type { FileContext } from "../../../service/file/context.ts";
import { listShareSnapshots } from "../../../service/file/list-share-snapshots.ts";
import type { RestResponse } from "../http/exchange.ts";
import { XML_CONTENT } from "../response-headers.ts";
import { element, XML_DECLARATION } from "../xml/write-xml.ts";
import { type FileCall, requireNoSnapshot, shareAskedOf } from "./call.ts";

/** For exports: no list of the service has the snapshots of a deleted share. */
export async function handleListShareSnapshots(
  context: FileContext,
  call: FileCall,
): Promise<RestResponse> {
  requireNoSnapshot(call);
  const names = await listShareSnapshots(context, shareAskedOf(call));
  const snapshots = names.map((name) => element("Snapshot", isoOfStamp(name)));
  return {
    status: 200,
    headers: [...XML_CONTENT],
    body: `${XML_DECLARATION}<Snapshots>${snapshots.join("")}</Snapshots>`,
  };
}
