import { getAccessControl } from "../../../service/blob/get-access-control.ts";
import { accessControlHeaders } from "../blob/blob-headers.ts";
import type { BlobFront } from "../blob/call.ts";
import type { RestResponse } from "../http/exchange.ts";
import { versionHeaders } from "../response-headers.ts";
import { requireValidUpn } from "./access-control-headers.ts";
import { type DataLakeCall, pathUseOf } from "./call.ts";

export async function handleGetAccessControl(
  context: BlobFront,
  call: DataLakeCall,
): Promise<RestResponse> {
  requireValidUpn(call.request.query);
  const found = await getAccessControl(context, pathUseOf(call));
  const headers = [...versionHeaders(found.version), ...accessControlHeaders(found)];
  return { status: 200, headers: [...headers, "x-ms-acl", found.acl], body: null };
}
