import type { BlobContext } from "../../../service/blob/context.ts";
import { undeleteBlob } from "../../../service/blob/undelete-blob.ts";
import type { RestResponse } from "../http/exchange.ts";
import { addressOf, type BlobCall } from "./call.ts";
import { requireSupportedOnWrite } from "./unsupported.ts";

export async function handleUndeleteBlob(
  context: BlobContext,
  call: BlobCall,
): Promise<RestResponse> {
  requireSupportedOnWrite(call.request);
  await undeleteBlob(context, { at: addressOf(call), access: call.access });
  return { status: 200, headers: [], body: null };
}
