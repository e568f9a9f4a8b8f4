import { renamePath } from "../../../service/blob/rename-path.ts";
import type { BlobFront } from "../blob/call.ts";
import type { RestResponse } from "../http/exchange.ts";
import { invalidQuery } from "../request-query.ts";
import { versionHeaders } from "../response-headers.ts";
import { requireNoBody } from "../stored-body.ts";
import { type DataLakeCall, pathUseOf } from "./call.ts";
import { continuationHeaders, continuationOf } from "./continuation.ts";
import { namedProperties, propertyPairsOf } from "./path-properties.ts";
import { renameSourceOf } from "./rename-source.ts";

/** What a continuation says: the earlier requests of the rename have checked both paths. */
const GOES_ON = "rename";

export async function handleRenamePath(
  context: BlobFront,
  call: DataLakeCall,
): Promise<RestResponse> {
  const { headers, query } = call.request;
  requireNoBody(call.request);
  const mode = query.get("mode")?.toLowerCase() ?? "";
  if (mode !== "" && mode !== "posix" && mode !== "legacy") {
    throw invalidQuery("mode", mode, "It must be posix or legacy.");
  }
  const { written, hasMore } = await renamePath(context, {
    ...pathUseOf(call),
    source: await renameSourceOf(call),
    metadata: propertyPairsOf(headers),
    properties: namedProperties(headers),
    isContinued: continuationOf(query) === GOES_ON,
  });
  return {
    status: 201,
    headers: [
      ...(written === null ? [] : versionHeaders(written)),
      ...continuationHeaders(hasMore ? GOES_ON : null),
    ],
    body: null,
  };
}
