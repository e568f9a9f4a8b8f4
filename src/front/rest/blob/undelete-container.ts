import type { BlobContext } from "../../../service/blob/context.ts";
import { undeleteContainer } from "../../../service/blob/undelete-container.ts";
import type { RestResponse } from "../http/exchange.ts";
import { invalidHeader, requireHeader } from "../request-headers.ts";
import { addressOf, type BlobCall } from "./call.ts";
import { deletedVersionOf } from "./deleted-version.ts";

export async function handleUndeleteContainer(
  context: BlobContext,
  call: BlobCall,
): Promise<RestResponse> {
  const { headers } = call.request;
  const at = addressOf(call);
  const name = requireHeader(headers, "x-ms-deleted-container-name");
  if (name !== at.container) {
    throw invalidHeader(
      "x-ms-deleted-container-name",
      name,
      "A container is restored under its own name: put that into the URL.",
    );
  }
  const version = deletedVersionOf(requireHeader(headers, "x-ms-deleted-container-version"));
  await undeleteContainer(context, { at, access: call.access, version });
  return { status: 201, headers: [], body: null };
}
