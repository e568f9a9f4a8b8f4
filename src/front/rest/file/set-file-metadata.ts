import type { FileContext } from "../../../service/file/context.ts";
import { setFileMetadata } from "../../../service/file/set-file-metadata.ts";
import type { RestResponse } from "../http/exchange.ts";
import { metadataOf } from "../request-headers.ts";
import { versionHeaders } from "../response-headers.ts";
import { type FileCall, fileAskedOf, requireNoSnapshot } from "./call.ts";

export async function handleSetFileMetadata(
  context: FileContext,
  call: FileCall,
): Promise<RestResponse> {
  requireNoSnapshot(call);
  const metadata = metadataOf(call.request.headers);
  const done = await setFileMetadata(context, { ...fileAskedOf(call), metadata });
  return {
    status: 200,
    headers: [...versionHeaders(done), "x-ms-request-server-encrypted", "true"],
    body: null,
  };
}
