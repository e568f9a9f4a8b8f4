import type { BlobContext } from "../../../service/blob/context.ts";
import { leaseBlob } from "../../../service/blob/lease-blob.ts";
import type { RestResponse } from "../http/exchange.ts";
import { leaseActionOf, leaseResponse } from "../lease-headers.ts";
import { blobConditionsOf } from "./blob-conditions.ts";
import { addressOf, type BlobCall } from "./call.ts";
import { requireNoKey, requireSupportedOnWrite } from "./unsupported.ts";

export async function handleLeaseBlob(context: BlobContext, call: BlobCall): Promise<RestResponse> {
  const { headers } = call.request;
  requireNoKey(call.request);
  requireSupportedOnWrite(call.request);
  const lease = leaseActionOf(headers);
  const done = await leaseBlob(context, {
    at: addressOf(call),
    access: call.access,
    lease,
    conditions: blobConditionsOf(headers),
  });
  return leaseResponse(lease.action, done);
}
