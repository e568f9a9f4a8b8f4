import { copyBlobFromUrl } from "../../../service/blob/copy-blob-from-url.ts";
import type { RestResponse } from "../http/exchange.ts";
import { sourceDigestsOf } from "../request-headers.ts";
import { digestHeaders } from "../response-headers.ts";
import { copiedMetadataOf } from "../source/source-headers.ts";
import { copiesTagsOf } from "../source/source-tags.ts";
import { writtenHeaders } from "./blob-revision.ts";
import { tagsOf } from "./blob-tags.ts";
import { type BlobCall, type BlobFront, blobUseOf } from "./call.ts";
import { digestsOfSource } from "./computed-digests.ts";
import { wholeSourceOf } from "./source-headers.ts";
import { tierOf } from "./tier-headers.ts";

const KNOWN = ["x-ms-source-content-md5", "x-ms-source-content-crc64"];

export async function handleCopyBlobFromUrl(
  context: BlobFront,
  call: BlobCall,
): Promise<RestResponse> {
  const { headers } = call.request;
  const digests = sourceDigestsOf(headers);
  const done = await copyBlobFromUrl(context, {
    ...blobUseOf(call),
    tags: tagsOf(headers),
    copiesTags: copiesTagsOf(headers),
    tier: tierOf(call),
    source: await wholeSourceOf(context, call, KNOWN),
    digests,
    computed: digestsOfSource(call.version, digests),
    metadata: copiedMetadataOf(headers),
    seals: null,
    priority: null,
  });
  return {
    status: 202,
    headers: [
      ...writtenHeaders(done),
      ...digestHeaders(done),
      "x-ms-copy-id",
      done.copyId,
      "x-ms-copy-status",
      "success",
    ],
    body: null,
  };
}
