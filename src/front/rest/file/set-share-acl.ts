import type { FileContext } from "../../../service/file/context.ts";
import { setShareAcl } from "../../../service/file/set-share-acl.ts";
import type { RestResponse } from "../http/exchange.ts";
import { pastOf } from "../past.ts";
import { versionHeaders } from "../response-headers.ts";
import { readSignedIdentifiers } from "../signed-identifiers.ts";
import { type FileCall, requireNoSnapshot, shareUseOf } from "./call.ts";

export async function handleSetShareAcl(
  context: FileContext,
  call: FileCall,
): Promise<RestResponse> {
  requireNoSnapshot(call);
  const policies = await readSignedIdentifiers(call.request);
  const version = await setShareAcl(context, {
    ...shareUseOf(call),
    policies,
    past: pastOf(call.request.headers),
  });
  return { status: 200, headers: versionHeaders(version), body: null };
}
