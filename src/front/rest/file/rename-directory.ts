import type { FileContext } from "../../../service/file/context.ts";
import { renameDirectory } from "../../../service/file/rename-directory.ts";
import type { RestResponse } from "../http/exchange.ts";
import { refuseHeaders } from "../request-headers.ts";
import { type FileCall, pathAskedOf, refuseSnapshot } from "./call.ts";
import { changedItemHeaders, refuseUnsupportedOnOldItem } from "./item-headers.ts";
import { renameTermsOf } from "./rename-headers.ts";
import { renameSourceOf } from "./rename-source.ts";

/** Directories have no leases, and nothing that has one is replaced by a directory. */
const LEASES = ["x-ms-source-lease-id", "x-ms-destination-lease-id"];

export async function handleRenameDirectory(
  context: FileContext,
  call: FileCall,
): Promise<RestResponse> {
  const { headers } = call.request;
  refuseSnapshot(call);
  refuseUnsupportedOnOldItem(headers);
  refuseHeaders(headers, LEASES);
  const done = await renameDirectory(context, {
    ...pathAskedOf(call),
    ...renameTermsOf(headers),
    source: await renameSourceOf(call),
  });
  return { status: 200, headers: changedItemHeaders(done), body: null };
}
