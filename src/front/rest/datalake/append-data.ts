import { etagOf } from "../../../base/stamp.ts";
import { appendData } from "../../../service/blob/append-data.ts";
import { putBlockBytesMax } from "../blob/body-limits.ts";
import type { BlobFront } from "../blob/call.ts";
import { digestsOfBody } from "../blob/computed-digests.ts";
import { encryptedHeaders, keyOf } from "../customer-key.ts";
import type { RestResponse } from "../http/exchange.ts";
import { digestsOf, invalidHeader, leaseIdOf } from "../request-headers.ts";
import { digestHeaders } from "../response-headers.ts";
import { incomingBody } from "../stored-body.ts";
import { addressOf, type DataLakeCall } from "./call.ts";
import { dataLeaseOf, renewedHeaders } from "./data-lease-headers.ts";
import { positionOf } from "./position.ts";
import { flagFromQuery } from "./query-flag.ts";

export async function handleAppendData(
  context: BlobFront,
  call: DataLakeCall,
): Promise<RestResponse> {
  const { headers, query } = call.request;
  const key = keyOf(call.request);
  const position = positionOf(query);
  const flushes = flagFromQuery(query, "flush");
  const incoming = incomingBody(call.request, putBlockBytesMax(call.version));
  if (incoming.body.length === 0) {
    throw invalidHeader("Content-Length", "0", "Append at least one byte.");
  }
  const digests = digestsOf(headers);
  const done = await appendData(context, {
    at: addressOf(call),
    access: call.access,
    position,
    key,
    body: incoming.body,
    digests,
    computed: digestsOfBody(call.version, digests),
    leaseId: leaseIdOf(headers),
    lease: dataLeaseOf(headers, flushes),
    flushes,
  });
  return {
    status: 202,
    headers: [
      ...(flushes ? ["ETag", `"${etagOf(done.blob.etag)}"`] : []),
      ...digestHeaders(done),
      ...encryptedHeaders(key),
      ...renewedHeaders(done),
      ...incoming.echo,
    ],
    body: null,
  };
}
