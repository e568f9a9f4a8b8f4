import type { BlobContext } from "../../../service/blob/context.ts";
import { setContainerAcl } from "../../../service/blob/set-container-acl.ts";
import type { RestResponse } from "../http/exchange.ts";
import { pastOf } from "../past.ts";
import { versionHeaders } from "../response-headers.ts";
import { readSignedIdentifiers } from "../signed-identifiers.ts";
import { type BlobCall, containerUpdateOf } from "./call.ts";
import { publicAccessOf } from "./public-access.ts";

export async function handleSetContainerAcl(
  context: BlobContext,
  call: BlobCall,
): Promise<RestResponse> {
  const version = await setContainerAcl(context, {
    ...containerUpdateOf(call),
    publicAccess: publicAccessOf(call.request.headers),
    policies: await readSignedIdentifiers(call.request),
    past: pastOf(call.request.headers),
  });
  return { status: 200, headers: versionHeaders(version), body: null };
}
