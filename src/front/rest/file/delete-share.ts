import type { ShareContext } from "../../../service/file/context.ts";
import { type DeleteShare, deleteShare } from "../../../service/file/delete-share.ts";
import type { RequestHeaders, RestResponse } from "../http/exchange.ts";
import { pastOf } from "../past.ts";
import { invalidHeader } from "../request-headers.ts";
import { type FileCall, shareUseOf } from "./call.ts";

export async function handleDeleteShare(
  context: ShareContext,
  call: FileCall,
): Promise<RestResponse> {
  const snapshots = snapshotsOf(call.request.headers);
  await deleteShare(context, {
    ...shareUseOf(call),
    snapshots,
    past: pastOf(call.request.headers),
  });
  return { status: 202, headers: [], body: null };
}

function snapshotsOf(headers: RequestHeaders): DeleteShare["snapshots"] {
  const name = "x-ms-delete-snapshots";
  const value = headers.get(name)?.toLowerCase() ?? "";
  if (value === "") return "refuse";
  if (value === "include" || value === "include-leased") return value;
  throw invalidHeader(name, value, "It must be include or include-leased.");
}
