import type { FileContext } from "../../../service/file/context.ts";
import { createDirectory } from "../../../service/file/create-directory.ts";
import type { RestResponse } from "../http/exchange.ts";
import { metadataOf } from "../request-headers.ts";
import { type FileCall, pathAskedOf, requireNoSnapshot } from "./call.ts";
import {
  changedItemHeaders,
  isRestored,
  itemSettingsOf,
  requireSupportedOnItem,
} from "./item-headers.ts";

export async function handleCreateDirectory(
  context: FileContext,
  call: FileCall,
): Promise<RestResponse> {
  const { headers } = call.request;
  requireNoSnapshot(call);
  requireSupportedOnItem(headers);
  // Validates the header, which makes no difference for directories.
  isRestored(headers);
  const directory = await createDirectory(context, {
    ...pathAskedOf(call),
    settings: itemSettingsOf(headers),
    metadata: metadataOf(headers),
  });
  return {
    status: 201,
    headers: changedItemHeaders(directory),
    body: null,
  };
}
