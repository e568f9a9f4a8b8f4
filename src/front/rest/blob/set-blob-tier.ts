import type { BlobContext } from "../../../service/blob/context.ts";
import { setBlobTier } from "../../../service/blob/set-blob-tier.ts";
import type { RestResponse } from "../http/exchange.ts";
import { type BlobCall, blobReadOf } from "./call.ts";
import { rehydratePriorityOf, requireTier } from "./tier-headers.ts";
import { requireNoKey, requireSupportedOnWrite } from "./unsupported.ts";

export async function handleSetBlobTier(
  context: BlobContext,
  call: BlobCall,
): Promise<RestResponse> {
  requireNoKey(call.request);
  requireSupportedOnWrite(call.request, ["x-ms-access-tier", "x-ms-rehydrate-priority"]);
  const { isPending } = await setBlobTier(context, {
    ...blobReadOf(call),
    tier: requireTier(call),
    priority: rehydratePriorityOf(call),
  });
  return { status: isPending ? 202 : 200, headers: [], body: null };
}
