import { Fault } from "../../../base/fault.ts";
import type { ShareContext } from "../../../service/file/context.ts";
import type { RestResponse } from "../http/exchange.ts";
import type { FileCall } from "./call.ts";

/** Refuses symbolic and hard links, which need NFS: no share here has it enabled. */
export async function handleLinks(_context: ShareContext, call: FileCall): Promise<RestResponse> {
  throw new Fault("UnsupportedQueryParameter", {
    QueryParameterName: "restype",
    QueryParameterValue: call.request.query.get("restype") ?? "",
    Reason: "Links are for shares over NFS, and all shares here are for SMB.",
  });
}
