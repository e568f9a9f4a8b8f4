import type { FileContext } from "../../../service/file/context.ts";
import { deleteShare } from "../../../service/file/delete-share.ts";
import type { RestResponse } from "../http/exchange.ts";
import { type FileCall, shareUseOf } from "./call.ts";

export async function handleDeleteShare(
  context: FileContext,
  call: FileCall,
): Promise<RestResponse> {
  await deleteShare(context, shareUseOf(call));
  return { status: 202, headers: [], body: null };
}
