import { rfc1123 } from "../../../base/time-text.ts";
import { getServiceStats } from "../../../service/account/get-service-stats.ts";
import type { BlobContext } from "../../../service/blob/context.ts";
import type { RestResponse } from "../http/exchange.ts";
import { XML_CONTENT } from "../response-headers.ts";
import { XML_DECLARATION } from "../xml/write-xml.ts";
import { type BlobCall, serviceAskedOf } from "./call.ts";

export async function handleGetServiceStats(
  context: BlobContext,
  call: BlobCall,
): Promise<RestResponse> {
  const { lastSyncMs } = await getServiceStats(context, serviceAskedOf(call));
  const sync = `<LastSyncTime>${rfc1123(lastSyncMs)}</LastSyncTime>`;
  const replication = `<GeoReplication><Status>live</Status>${sync}</GeoReplication>`;
  return {
    status: 200,
    headers: [...XML_CONTENT],
    body: `${XML_DECLARATION}<StorageServiceStats>${replication}</StorageServiceStats>`,
  };
}
