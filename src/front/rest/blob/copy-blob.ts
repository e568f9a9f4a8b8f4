import { type CopyBlobDone, copyBlob } from "../../../service/blob/copy-blob.ts";
import type { RestResponse } from "../http/exchange.ts";
import { flagOf } from "../request-headers.ts";
import { copiedMetadataOf } from "../source/source-headers.ts";
import { copiesTagsOf } from "../source/source-tags.ts";
import { writtenHeaders } from "./blob-revision.ts";
import { tagsOf } from "./blob-tags.ts";
import { type BlobCall, type BlobFront, blobUseOf } from "./call.ts";
import { wholeSourceOf } from "./source-headers.ts";
import { rehydratePriorityOf, tierOf } from "./tier-headers.ts";

/** Before, every copy was synchronous and the response had no copy status. */
const STATUS_SINCE = "2012-02-12";

const SEAL = "x-ms-seal-blob";

export async function handleCopyBlob(context: BlobFront, call: BlobCall): Promise<RestResponse> {
  const { headers } = call.request;
  const done = await copyBlob(context, {
    ...blobUseOf(call),
    tags: tagsOf(headers),
    copiesTags: copiesTagsOf(headers),
    tier: tierOf(call),
    priority: rehydratePriorityOf(call),
    source: await wholeSourceOf(context, call, ["x-ms-rehydrate-priority", SEAL]),
    metadata: copiedMetadataOf(headers),
    seals: headers.get(SEAL) === undefined ? null : flagOf(headers, SEAL),
  });
  if (call.version < STATUS_SINCE) {
    return { status: 201, headers: writtenHeaders(done), body: null };
  }
  return copyBegun(done);
}

export function copyBegun(done: CopyBlobDone): RestResponse {
  const copy = ["x-ms-copy-id", done.copyId, "x-ms-copy-status", done.status];
  return { status: 202, headers: [...writtenHeaders(done), ...copy], body: null };
}
