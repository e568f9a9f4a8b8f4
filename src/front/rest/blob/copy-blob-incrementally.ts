import { Fault } from "../../../base/fault.ts";
import { copyBlobIncrementally } from "../../../service/blob/copy-blob-incrementally.ts";
import type { RestResponse } from "../http/exchange.ts";
import { type BlobCall, type BlobFront, blobUseOf } from "./call.ts";
import { copyBegun } from "./copy-blob.ts";
import { wholeSourceOf } from "./source-headers.ts";
import { refuseUnsupportedOnWrite } from "./unsupported.ts";

export async function handleCopyBlobIncrementally(
  context: BlobFront,
  call: BlobCall,
): Promise<RestResponse> {
  refuseUnsupportedOnWrite(call.request);
  const source = wholeSourceOf(context, call, []);
  if (source.kind !== "own") {
    throw new Fault("CopySourceInvalid", {
      Reason: "Only snapshots on this server can be copied incrementally.",
    });
  }
  return copyBegun(await copyBlobIncrementally(context, { ...blobUseOf(call), source }));
}
