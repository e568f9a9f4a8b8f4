import { Fault } from "../../../base/fault.ts";
import type { FileContext } from "../../../service/file/context.ts";
import { undeleteShare } from "../../../service/file/undelete-share.ts";
import type { RestResponse } from "../http/exchange.ts";
import { requireHeader } from "../request-headers.ts";
import { versionHeaders } from "../response-headers.ts";
import { type FileCall, requireNoSnapshot, shareAskedOf } from "./call.ts";
import { quotaHeaders } from "./share-headers.ts";
import { shareVersionOf } from "./share-version.ts";

export async function handleUndeleteShare(
  context: FileContext,
  call: FileCall,
): Promise<RestResponse> {
  const { headers } = call.request;
  requireNoSnapshot(call);
  const deletedName = requireHeader(headers, "x-ms-deleted-share-name");
  const deletedVersion = shareVersionOf(requireHeader(headers, "x-ms-deleted-share-version"));
  if (deletedVersion === null) throw new Fault("ShareNotFound");
  const share = await undeleteShare(context, {
    ...shareAskedOf(call),
    deletedName,
    deletedVersion,
  });
  return {
    status: 201,
    headers: [...versionHeaders(share), ...quotaHeaders(share.quotaGib)],
    body: null,
  };
}
