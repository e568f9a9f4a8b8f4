import type { FileContext } from "../../../service/file/context.ts";
import { setDirectoryMetadata } from "../../../service/file/set-directory-metadata.ts";
import type { RestResponse } from "../http/exchange.ts";
import { metadataOf } from "../request-headers.ts";
import { versionHeaders } from "../response-headers.ts";
import { type FileCall, pathAskedOf, requireNoSnapshot } from "./call.ts";

export async function handleSetDirectoryMetadata(
  context: FileContext,
  call: FileCall,
): Promise<RestResponse> {
  requireNoSnapshot(call);
  const metadata = metadataOf(call.request.headers);
  const done = await setDirectoryMetadata(context, { ...pathAskedOf(call), metadata });
  return {
    status: 200,
    headers: [...versionHeaders(done), "x-ms-request-server-encrypted", "true"],
    body: null,
  };
}
