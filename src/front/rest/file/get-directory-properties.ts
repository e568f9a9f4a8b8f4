import type { FileContext } from "../../../service/file/context.ts";
import { getDirectoryProperties } from "../../../service/file/get-directory-properties.ts";
import type { RestResponse } from "../http/exchange.ts";
import { metadataHeaders, versionHeaders } from "../response-headers.ts";
import { type FileCall, pathAskedOf } from "./call.ts";
import { itemHeaders } from "./item-headers.ts";

export async function handleGetDirectoryProperties(
  context: FileContext,
  call: FileCall,
): Promise<RestResponse> {
  const directory = await getDirectoryProperties(context, pathAskedOf(call));
  return {
    status: 200,
    headers: [
      ...versionHeaders(directory),
      ...itemHeaders(directory),
      "x-ms-server-encrypted",
      "true",
      ...metadataHeaders(directory.metadata),
    ],
    body: null,
  };
}
