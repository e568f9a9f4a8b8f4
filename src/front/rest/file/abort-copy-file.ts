import { abortCopyFile } from "../../../service/file/abort-copy-file.ts";
import type { RestResponse } from "../http/exchange.ts";
import { invalidHeader, requireHeader } from "../request-headers.ts";
import { requireFromQuery } from "../request-query.ts";
import { type FileCall, type FileFront, fileAskedOf, requireNoSnapshot } from "./call.ts";

export async function handleAbortCopyFile(
  context: FileFront,
  call: FileCall,
): Promise<RestResponse> {
  const { headers, query } = call.request;
  requireNoSnapshot(call);
  const action = requireHeader(headers, "x-ms-copy-action");
  if (action.toLowerCase() !== "abort") {
    throw invalidHeader("x-ms-copy-action", action, "It must be abort.");
  }
  const copyId = requireFromQuery(query, "copyid").toLowerCase();
  await abortCopyFile(context, { ...fileAskedOf(call), copyId });
  return { status: 204, headers: [], body: null };
}
