import type { FileContext } from "../../../service/file/context.ts";
import { deleteFile } from "../../../service/file/delete-file.ts";
import type { RestResponse } from "../http/exchange.ts";
import { type FileCall, fileAskedOf, requireNoSnapshot } from "./call.ts";

export async function handleDeleteFile(
  context: FileContext,
  call: FileCall,
): Promise<RestResponse> {
  requireNoSnapshot(call);
  await deleteFile(context, fileAskedOf(call));
  return { status: 202, headers: [], body: null };
}
