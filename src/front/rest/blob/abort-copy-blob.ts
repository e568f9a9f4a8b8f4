import { Fault } from "../../../base/fault.ts";
import { abortCopyBlob } from "../../../service/blob/abort-copy-blob.ts";
import type { RestResponse } from "../http/exchange.ts";
import { invalidHeader, leaseIdOf, requireHeader } from "../request-headers.ts";
import { addressOf, type BlobCall, type BlobFront } from "./call.ts";
import { requireNoKey, requireSupportedOnWrite } from "./unsupported.ts";

export async function handleAbortCopyBlob(
  context: BlobFront,
  call: BlobCall,
): Promise<RestResponse> {
  const { headers, query } = call.request;
  requireNoKey(call.request);
  requireSupportedOnWrite(call.request);
  const action = requireHeader(headers, "x-ms-copy-action");
  if (action.toLowerCase() !== "abort") {
    throw invalidHeader("x-ms-copy-action", action, "It must be abort.");
  }
  const copyId = query.get("copyid") ?? "";
  if (copyId === "") {
    throw new Fault("MissingRequiredQueryParameter", { QueryParameterName: "copyid" });
  }
  await abortCopyBlob(context, {
    at: addressOf(call),
    access: call.access,
    copyId: copyId.toLowerCase(),
    leaseId: leaseIdOf(headers),
  });
  return { status: 204, headers: [], body: null };
}
