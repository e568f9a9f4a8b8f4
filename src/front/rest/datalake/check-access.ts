import { checkAccess } from "../../../service/blob/check-access.ts";
import type { BlobFront } from "../blob/call.ts";
import type { RestResponse } from "../http/exchange.ts";
import { requireFromQuery } from "../request-query.ts";
import { versionHeaders } from "../response-headers.ts";
import { type DataLakeCall, pathUseOf } from "./call.ts";

export async function handleCheckAccess(
  context: BlobFront,
  call: DataLakeCall,
): Promise<RestResponse> {
  const version = await checkAccess(context, {
    ...pathUseOf(call),
    rights: requireFromQuery(call.request.query, "fsaction"),
  });
  return { status: 200, headers: versionHeaders(version), body: null };
}
