import { Fault } from "../../../base/fault.ts";
import { isEmptyControl } from "../../../service/blob/asked-access-control.ts";
import { setAccessControl } from "../../../service/blob/set-access-control.ts";
import type { BlobFront } from "../blob/call.ts";
import type { RestResponse } from "../http/exchange.ts";
import { versionHeaders } from "../response-headers.ts";
import { requireNoBody } from "../stored-body.ts";
import { askedControlOf } from "./access-control-headers.ts";
import { type DataLakeCall, pathUseOf } from "./call.ts";

export async function handleSetAccessControl(
  context: BlobFront,
  call: DataLakeCall,
): Promise<RestResponse> {
  requireNoBody(call.request);
  const control = askedControlOf(call.request.headers);
  if (isEmptyControl(control)) {
    throw new Fault("MissingRequiredHeader", {
      HeaderName: "x-ms-acl",
      Reason: "Send x-ms-acl, x-ms-permissions, x-ms-owner or x-ms-group.",
    });
  }
  const done = await setAccessControl(context, { ...pathUseOf(call), control });
  return { status: 200, headers: versionHeaders(done), body: null };
}
