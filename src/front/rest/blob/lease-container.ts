import type { BlobContext } from "../../../service/blob/context.ts";
import { leaseContainer } from "../../../service/blob/lease-container.ts";
import type { RestResponse } from "../http/exchange.ts";
import { leaseActionOf, leaseResponse } from "../lease-headers.ts";
import { conditionsOf, requireNoHeaders } from "../request-headers.ts";
import { addressOf, type BlobCall } from "./call.ts";

export async function handleLeaseContainer(
  context: BlobContext,
  call: BlobCall,
): Promise<RestResponse> {
  const { headers } = call.request;
  requireNoHeaders(headers, ["x-ms-if-tags"]);
  const lease = leaseActionOf(headers);
  const done = await leaseContainer(context, {
    at: addressOf(call),
    access: call.access,
    lease,
    conditions: conditionsOf(headers),
  });
  return leaseResponse(lease.action, done);
}
