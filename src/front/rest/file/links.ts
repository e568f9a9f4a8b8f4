import { Fault } from "../../../base/fault.ts";
import type { ShareContext } from "../../../service/file/context.ts";
import type { RestResponse } from "../http/exchange.ts";
import type { FileCall } from "./call.ts";

/** Symbolic and hard links belong to NFS, for which no share here is enabled. */
export async function handleLinks(_context: ShareContext, call: FileCall): Promise<RestResponse> {
  throw new Fault("UnsupportedQueryParameter", {
    QueryParameterName: "restype",
    QueryParameterValue: call.request.query.get("restype") ?? "",
    Reason: "Links are for shares over NFS, and all shares here are for SMB.",
  });
}
