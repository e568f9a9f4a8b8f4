import { deletePath } from "../../../service/blob/delete-path.ts";
import type { BlobFront } from "../blob/call.ts";
import type { RestResponse } from "../http/exchange.ts";
import { type DataLakeCall, pathUseOf } from "./call.ts";
import { continuationHeaders, continuationOf } from "./continuation.ts";
import { flagFromQuery } from "./query-flag.ts";

/** What a continuation says: the earlier requests of the delete have checked the path. */
const GOES_ON = "delete";

export async function handleDeletePath(
  context: BlobFront,
  call: DataLakeCall,
): Promise<RestResponse> {
  const { query } = call.request;
  const isPaginated = flagFromQuery(query, "paginated");
  const { hasMore, deletionId } = await deletePath(context, {
    ...pathUseOf(call),
    isRecursive: flagFromQuery(query, "recursive"),
    isContinued: continuationOf(query) === GOES_ON,
  });
  return {
    status: isPaginated && hasMore ? 202 : 200,
    headers: [
      ...continuationHeaders(hasMore ? GOES_ON : null),
      ...(deletionId === null ? [] : ["x-ms-deletion-id", String(deletionId)]),
    ],
    body: null,
  };
}
