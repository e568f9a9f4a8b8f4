import type { FileContext } from "../../../service/file/context.ts";
import { deleteDirectory } from "../../../service/file/delete-directory.ts";
import type { RestResponse } from "../http/exchange.ts";
import { type FileCall, pathAskedOf, requireNoSnapshot } from "./call.ts";

export async function handleDeleteDirectory(
  context: FileContext,
  call: FileCall,
): Promise<RestResponse> {
  requireNoSnapshot(call);
  await deleteDirectory(context, pathAskedOf(call));
  return { status: 202, headers: [], body: null };
}
