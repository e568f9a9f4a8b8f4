import { Fault } from "../../../base/fault.ts";
import type { BlobContext } from "../../../service/blob/context.ts";
import { placeRevision } from "../../../service/blob/place-revision.ts";
import type { RestResponse } from "../http/exchange.ts";
import { PAST, pastOf } from "../past.ts";
import { requireNoBody } from "../stored-body.ts";
import { writtenHeaders } from "./blob-revision.ts";
import { type BlobCall, blobUseOf } from "./call.ts";
import { requireNoKey, requireSupportedOnWrite } from "./unsupported.ts";

export async function handlePlaceRevision(
  context: BlobContext,
  call: BlobCall,
): Promise<RestResponse> {
  requireNoKey(call.request);
  requireSupportedOnWrite(call.request);
  requireNoBody(call.request);
  const past = pastOf(call.request.headers);
  if (past === null) throw new Fault("MissingRequiredHeader", { HeaderName: PAST });
  const done = await placeRevision(context, { ...blobUseOf(call), past });
  return { status: 200, headers: writtenHeaders(done), body: null };
}
