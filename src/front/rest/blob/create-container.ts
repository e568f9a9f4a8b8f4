import { createContainer } from "../../../service/blob/create-container.ts";
import type { RestResponse } from "../http/exchange.ts";
import { pastOf } from "../past.ts";
import { metadataOf, requireNoHeaders } from "../request-headers.ts";
import { versionHeaders } from "../response-headers.ts";
import { addressOf, type BlobCall, type BlobFront } from "./call.ts";
import { publicAccessOf } from "./public-access.ts";

const UNSUPPORTED = ["x-ms-default-encryption-scope", "x-ms-deny-encryption-scope-override"];

export async function handleCreateContainer(
  context: BlobFront,
  call: BlobCall,
): Promise<RestResponse> {
  const { headers } = call.request;
  requireNoHeaders(headers, UNSUPPORTED);
  const version = await createContainer(context, {
    at: addressOf(call),
    access: call.access,
    publicAccess: publicAccessOf(headers),
    metadata: metadataOf(headers),
    past: pastOf(headers),
    isDataLake: context.isDataLake ?? false,
  });
  return { status: 201, headers: versionHeaders(version), body: null };
}
