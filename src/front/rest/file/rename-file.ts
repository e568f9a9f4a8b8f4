import type { FileContext } from "../../../service/file/context.ts";
import { renameFile } from "../../../service/file/rename-file.ts";
import type { RestResponse } from "../http/exchange.ts";
import { type FileCall, pathAskedOf, requireNoSnapshot } from "./call.ts";
import { changedItemHeaders, requireSupportedOnExistingItem } from "./item-headers.ts";
import { renameTermsOf } from "./rename-headers.ts";
import { renameSourceOf } from "./rename-source.ts";

export async function handleRenameFile(
  context: FileContext,
  call: FileCall,
): Promise<RestResponse> {
  const { headers } = call.request;
  requireNoSnapshot(call);
  requireSupportedOnExistingItem(headers);
  const done = await renameFile(context, {
    ...pathAskedOf(call),
    ...renameTermsOf(headers),
    source: await renameSourceOf(call),
    contentType: headers.get("x-ms-content-type") ?? null,
  });
  return { status: 200, headers: changedItemHeaders(done), body: null };
}
