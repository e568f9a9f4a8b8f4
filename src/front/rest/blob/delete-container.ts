import type { BlobContext } from "../../../service/blob/context.ts";
import { deleteContainer } from "../../../service/blob/delete-container.ts";
import type { RestResponse } from "../http/exchange.ts";
import { pastOf } from "../past.ts";
import { type BlobCall, containerUpdateOf } from "./call.ts";

export async function handleDeleteContainer(
  context: BlobContext,
  call: BlobCall,
): Promise<RestResponse> {
  await deleteContainer(context, {
    ...containerUpdateOf(call),
    past: pastOf(call.request.headers),
  });
  return { status: 202, headers: [], body: null };
}
