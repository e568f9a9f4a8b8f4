import { isoOfStamp } from "../../../base/stamp.ts";
import type { FileContext } from "../../../service/file/context.ts";
import { snapshotShare } from "../../../service/file/snapshot-share.ts";
import type { RestResponse } from "../http/exchange.ts";
import { pastOf } from "../past.ts";
import { metadataOf } from "../request-headers.ts";
import { versionHeaders } from "../response-headers.ts";
import { type FileCall, requireNoSnapshot, shareAskedOf } from "./call.ts";

export async function handleSnapshotShare(
  context: FileContext,
  call: FileCall,
): Promise<RestResponse> {
  requireNoSnapshot(call);
  const metadata = metadataOf(call.request.headers);
  const past = pastOf(call.request.headers);
  const done = await snapshotShare(context, {
    ...shareAskedOf(call),
    metadata: metadata.length === 0 && past === null ? null : metadata,
    past,
  });
  return {
    status: 201,
    headers: [...versionHeaders(done), "x-ms-snapshot", isoOfStamp(done.snapshot)],
    body: null,
  };
}
