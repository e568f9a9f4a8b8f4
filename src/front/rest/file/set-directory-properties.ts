import type { FileContext } from "../../../service/file/context.ts";
import { setDirectoryProperties } from "../../../service/file/set-directory-properties.ts";
import type { RestResponse } from "../http/exchange.ts";
import { pastOf } from "../past.ts";
import { type FileCall, pathAskedOf, requireNoSnapshot } from "./call.ts";
import {
  changedItemHeaders,
  itemSettingsOf,
  requireSupportedOnExistingItem,
} from "./item-headers.ts";

export async function handleSetDirectoryProperties(
  context: FileContext,
  call: FileCall,
): Promise<RestResponse> {
  const { headers } = call.request;
  requireNoSnapshot(call);
  requireSupportedOnExistingItem(headers);
  const done = await setDirectoryProperties(context, {
    ...pathAskedOf(call),
    settings: itemSettingsOf(headers),
    past: pastOf(headers),
  });
  return { status: 200, headers: changedItemHeaders(done), body: null };
}
