import { FILE_BYTES_MAX } from "../../../base/limits.ts";
import type { FileContext } from "../../../service/file/context.ts";
import { createFile } from "../../../service/file/create-file.ts";
import type { RestResponse } from "../http/exchange.ts";
import { invalidHeader, metadataOf, numberOf, requireHeader } from "../request-headers.ts";
import { versionHeaders } from "../response-headers.ts";
import { refuseBody } from "../stored-body.ts";
import { type FileCall, fileAskedOf, refuseSnapshot } from "./call.ts";
import { filePropertiesOf } from "./file-headers.ts";
import { itemHeaders, itemSettingsOf, refuseNfsHeaders } from "./item-headers.ts";

export async function handleCreateFile(
  context: FileContext,
  call: FileCall,
): Promise<RestResponse> {
  const { headers } = call.request;
  refuseSnapshot(call);
  refuseNfsHeaders(headers);
  const type = requireHeader(headers, "x-ms-type");
  if (type.toLowerCase() !== "file") throw invalidHeader("x-ms-type", type, "It must be file.");
  requireHeader(headers, "x-ms-content-length");
  refuseBody(call.request);
  const file = await createFile(context, {
    ...fileAskedOf(call),
    length: numberOf(headers, "x-ms-content-length", 0, FILE_BYTES_MAX) ?? 0,
    settings: itemSettingsOf(headers),
    properties: filePropertiesOf(headers),
    metadata: metadataOf(headers),
  });
  return {
    status: 201,
    headers: [
      ...versionHeaders(file),
      ...itemHeaders(file),
      "x-ms-request-server-encrypted",
      "true",
    ],
    body: null,
  };
}
