import { deleteContainer } from "../../../service/blob/delete-container.ts";
import type { BlobFront } from "../blob/call.ts";
import type { RestResponse } from "../http/exchange.ts";
import { type DataLakeCall, filesystemUpdateOf } from "./call.ts";

export async function handleDeleteFilesystem(
  context: BlobFront,
  call: DataLakeCall,
): Promise<RestResponse> {
  await deleteContainer(context, filesystemUpdateOf(call));
  return { status: 202, headers: [], body: null };
}
