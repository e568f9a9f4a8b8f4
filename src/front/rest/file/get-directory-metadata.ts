import type { FileContext } from "../../../service/file/context.ts";
import { getDirectoryMetadata } from "../../../service/file/get-directory-metadata.ts";
import type { RestResponse } from "../http/exchange.ts";
import { metadataHeaders, versionHeaders } from "../response-headers.ts";
import { type FileCall, pathAskedOf } from "./call.ts";

export async function handleGetDirectoryMetadata(
  context: FileContext,
  call: FileCall,
): Promise<RestResponse> {
  const found = await getDirectoryMetadata(context, pathAskedOf(call));
  return {
    status: 200,
    headers: [...versionHeaders(found), ...metadataHeaders(found.metadata)],
    body: null,
  };
}
