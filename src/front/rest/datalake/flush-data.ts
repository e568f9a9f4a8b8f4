import { Fault } from "../../../base/fault.ts";
import { flushData } from "../../../service/blob/flush-data.ts";
import type { BlobFront } from "../blob/call.ts";
import { encryptedHeaders, keyOf } from "../customer-key.ts";
import type { RestResponse } from "../http/exchange.ts";
import { versionHeaders } from "../response-headers.ts";
import { type DataLakeCall, keyedPathUseOf } from "./call.ts";
import { dataLeaseOf, renewedHeaders } from "./data-lease-headers.ts";
import { namedProperties } from "./path-properties.ts";
import { positionOf } from "./position.ts";
import { flagFromQuery } from "./query-flag.ts";

export async function handleFlushData(
  context: BlobFront,
  call: DataLakeCall,
): Promise<RestResponse> {
  const { headers, query, body } = call.request;
  if (body.length > 0) throw new Fault("ContentLengthMustBeZero");
  // `close` marks the last flush for change notifications, which this server does not send.
  flagFromQuery(query, "close");
  const key = keyOf(call.request);
  const done = await flushData(context, {
    ...keyedPathUseOf(call, key),
    position: positionOf(query),
    retains: flagFromQuery(query, "retainuncommitteddata"),
    properties: namedProperties(headers),
    lease: dataLeaseOf(headers, true),
  });
  return {
    status: 200,
    headers: [...versionHeaders(done.blob), ...encryptedHeaders(key), ...renewedHeaders(done)],
    body: null,
  };
}
