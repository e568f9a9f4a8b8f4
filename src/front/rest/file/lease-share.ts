import type { FileContext } from "../../../service/file/context.ts";
import { leaseShare } from "../../../service/file/lease-share.ts";
import type { RestResponse } from "../http/exchange.ts";
import { leaseActionOf, leaseResponse } from "../lease-headers.ts";
import { type FileCall, shareAskedOf } from "./call.ts";

export async function handleLeaseShare(
  context: FileContext,
  call: FileCall,
): Promise<RestResponse> {
  const lease = leaseActionOf(call.request.headers);
  const done = await leaseShare(context, { ...shareAskedOf(call), lease });
  return leaseResponse(lease.action, done);
}
