import type { BlobContext } from "../../../service/blob/context.ts";
import { getBlock } from "../../../service/blob/get-block.ts";
import type { RestResponse } from "../http/exchange.ts";
import { sentBody } from "../stored-body.ts";
import { addressOf, type BlobCall } from "./call.ts";
import { requireNoKey } from "./unsupported.ts";

export async function handleGetBlock(context: BlobContext, call: BlobCall): Promise<RestResponse> {
  requireNoKey(call.request);
  const blockId = call.request.query.get("blockid") ?? "";
  const reading = await getBlock(context, { at: addressOf(call), access: call.access, blockId });
  const headers = ["Content-Type", "application/octet-stream"];
  return { status: 200, headers, body: sentBody(reading, null).body };
}
