import type { FileContext } from "../../../service/file/context.ts";
import { forceCloseHandles } from "../../../service/file/force-close-handles.ts";
import type { RequestHeaders, RestResponse } from "../http/exchange.ts";
import { flagOf, invalidHeader, requireHeader } from "../request-headers.ts";
import { type FileCall, pathAskedOf } from "./call.ts";
import { handleMarker, handleMarkOf } from "./handle-marker.ts";

export async function handleForceCloseHandles(
  context: FileContext,
  call: FileCall,
): Promise<RestResponse> {
  const { query, headers } = call.request;
  const { closed, next } = await forceCloseHandles(context, {
    ...pathAskedOf(call),
    isRecursive: flagOf(headers, "x-ms-recursive"),
    handle: handleIdOf(headers),
    after: handleMarkOf(query),
  });
  const answer = ["x-ms-number-of-handles-closed", String(closed)];
  answer.push("x-ms-number-of-handles-failed", "0");
  if (next !== null) answer.push("x-ms-marker", handleMarker(next));
  return { status: 200, headers: answer, body: null };
}

/** Reads the handle id; null for all handles. */
function handleIdOf(headers: RequestHeaders): bigint | null {
  const name = "x-ms-handle-id";
  const value = requireHeader(headers, name);
  if (value === "*") return null;
  const id = /^\d{1,20}$/.test(value) ? BigInt(value) : -1n;
  if (id < 0n || id >= 2n ** 64n) {
    throw invalidHeader(name, value, "It is a HandleId from List Handles, or * for all.");
  }
  return id;
}
