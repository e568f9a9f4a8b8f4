import type { FileContext } from "../../../service/file/context.ts";
import { getFileMetadata } from "../../../service/file/get-file-metadata.ts";
import type { RestResponse } from "../http/exchange.ts";
import { metadataHeaders, versionHeaders } from "../response-headers.ts";
import { type FileCall, fileAskedOf } from "./call.ts";

export async function handleGetFileMetadata(
  context: FileContext,
  call: FileCall,
): Promise<RestResponse> {
  const found = await getFileMetadata(context, fileAskedOf(call));
  return {
    status: 200,
    headers: [...versionHeaders(found), ...metadataHeaders(found.metadata)],
    body: null,
  };
}
