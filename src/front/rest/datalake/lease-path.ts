import { leaseBlob } from "../../../service/blob/lease-blob.ts";
import type { BlobFront } from "../blob/call.ts";
import type { RestResponse } from "../http/exchange.ts";
import { leaseActionOf, leaseResponse } from "../lease-headers.ts";
import { conditionsOf } from "../request-headers.ts";
import { addressOf, type DataLakeCall } from "./call.ts";

export async function handleLeasePath(
  context: BlobFront,
  call: DataLakeCall,
): Promise<RestResponse> {
  const { headers } = call.request;
  const lease = leaseActionOf(headers);
  const done = await leaseBlob(context, {
    at: addressOf(call),
    access: call.access,
    lease,
    conditions: { ...conditionsOf(headers), ifTags: null },
  });
  return leaseResponse(lease.action, done);
}
