import type { BlobContext } from "../../../service/blob/context.ts";
import { type DeleteBlob, deleteBlob } from "../../../service/blob/delete-blob.ts";
import type { RestResponse } from "../http/exchange.ts";
import { invalidHeader } from "../request-headers.ts";
import { invalidQuery } from "../request-query.ts";
import { requireCurrentRevision } from "./blob-revision.ts";
import { type BlobCall, blobReadOf } from "./call.ts";
import { requireSupportedOnDelete } from "./unsupported.ts";

export async function handleDeleteBlob(
  context: BlobContext,
  call: BlobCall,
): Promise<RestResponse> {
  requireSupportedOnDelete(call.request);
  const asked = blobReadOf(call);
  const { isGone } = await deleteBlob(context, {
    ...asked,
    snapshots: snapshotsOf(call),
    permanent: isPermanent(call),
  });
  const headers = ["x-ms-delete-type-permanent", String(isGone)];
  return { status: 202, headers, body: null };
}

function isPermanent({ request }: BlobCall): boolean {
  const name = "deletetype";
  const value = request.query.get(name);
  if (value === undefined) return false;
  if (value.toLowerCase() !== "permanent") throw invalidQuery(name, value, "It can be permanent.");
  return true;
}

/** Only the current blob can be deleted with its snapshots. */
function snapshotsOf({ request }: BlobCall): DeleteBlob["snapshots"] {
  const name = "x-ms-delete-snapshots";
  const value = request.headers.get(name)?.toLowerCase();
  if (value === undefined) return null;
  if (value !== "include" && value !== "only") {
    throw invalidHeader(name, value, "It must be include or only.");
  }
  requireCurrentRevision(request.query);
  return value;
}
