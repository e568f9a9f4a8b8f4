import type { BlobContext } from "../../../service/blob/context.ts";
import { type DeleteBlob, deleteBlob } from "../../../service/blob/delete-blob.ts";
import type { RequestHeaders, RestResponse } from "../http/exchange.ts";
import { invalidHeader } from "../request-headers.ts";
import { type BlobCall, blobUseOf } from "./call.ts";
import { refuseUnsupportedOnDelete } from "./unsupported.ts";

export async function handleDeleteBlob(
  context: BlobContext,
  call: BlobCall,
): Promise<RestResponse> {
  const { headers } = call.request;
  refuseUnsupportedOnDelete(call.request);
  await deleteBlob(context, {
    ...blobUseOf(call),
    snapshots: snapshotsOf(headers),
  });
  return { status: 202, headers: [], body: null };
}

function snapshotsOf(headers: RequestHeaders): DeleteBlob["snapshots"] {
  const name = "x-ms-delete-snapshots";
  const value = headers.get(name)?.toLowerCase();
  if (value === undefined) return null;
  if (value !== "include" && value !== "only") {
    throw invalidHeader(name, value, "It must be include or only.");
  }
  return value;
}
