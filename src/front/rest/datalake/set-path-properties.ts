import { setPathProperties } from "../../../service/blob/set-path-properties.ts";
import type { BlobFront } from "../blob/call.ts";
import { keyOf } from "../customer-key.ts";
import type { RestResponse } from "../http/exchange.ts";
import { versionHeaders } from "../response-headers.ts";
import { requireNoBody } from "../stored-body.ts";
import { type DataLakeCall, keyedPathUseOf } from "./call.ts";
import { namedProperties, propertyPairsOf } from "./path-properties.ts";

export async function handleSetPathProperties(
  context: BlobFront,
  call: DataLakeCall,
): Promise<RestResponse> {
  const { headers } = call.request;
  requireNoBody(call.request);
  const done = await setPathProperties(context, {
    ...keyedPathUseOf(call, keyOf(call.request)),
    metadata: propertyPairsOf(headers) ?? [],
    properties: namedProperties(headers),
  });
  return { status: 200, headers: versionHeaders(done), body: null };
}
