import type { FileContext } from "../../../service/file/context.ts";
import { renameDirectory } from "../../../service/file/rename-directory.ts";
import type { RestResponse } from "../http/exchange.ts";
import { type FileCall, pathAskedOf, requireNoSnapshot } from "./call.ts";
import { changedItemHeaders, requireSupportedOnExistingItem } from "./item-headers.ts";
import { renameTermsOf } from "./rename-headers.ts";
import { renameSourceOf } from "./rename-source.ts";

export async function handleRenameDirectory(
  context: FileContext,
  call: FileCall,
): Promise<RestResponse> {
  const { headers } = call.request;
  requireNoSnapshot(call);
  requireSupportedOnExistingItem(headers);
  const done = await renameDirectory(context, {
    ...pathAskedOf(call),
    ...renameTermsOf(headers),
    source: await renameSourceOf(call),
  });
  return { status: 200, headers: changedItemHeaders(done), body: null };
}
