import type { SourceRole } from "../../../rules/conditions.ts";
import { putBlobFromUrl } from "../../../service/blob/put-blob-from-url.ts";
import { DEFAULT_CONTENT_TYPE } from "../content-properties.ts";
import { encryptedHeaders, KEY_HEADERS, keyOf, SOURCE_KEY_HEADERS } from "../customer-key.ts";
import type { RequestHeaders, RestResponse } from "../http/exchange.ts";
import {
  flagOf,
  invalidHeader,
  metadataOf,
  requireHeader,
  sourceDigestsOf,
} from "../request-headers.ts";
import { digestHeaders } from "../response-headers.ts";
import { copiesTagsOf } from "../source/source-tags.ts";
import { writtenHeaders } from "./blob-revision.ts";
import { tagsOf } from "./blob-tags.ts";
import { putBlobBytesMax } from "./body-limits.ts";
import { type BlobCall, type BlobFront, blobUseOf } from "./call.ts";
import { digestsOfSource } from "./computed-digests.ts";
import { PROPERTY_NAMES, propertiesOf, requireMd5 } from "./properties.ts";
import { wholeSourceOf } from "./source-headers.ts";
import { tierOf } from "./tier-headers.ts";

const COPIES = "x-ms-copy-source-blob-properties";
const KNOWN = [
  COPIES,
  "x-ms-source-content-md5",
  "x-ms-source-content-crc64",
  ...Object.values(PROPERTY_NAMES),
  ...KEY_HEADERS,
  ...SOURCE_KEY_HEADERS,
];

export async function handlePutBlobFromUrl(
  context: BlobFront,
  call: BlobCall,
): Promise<RestResponse> {
  const { headers } = call.request;
  const type = requireHeader(headers, "x-ms-blob-type");
  if (type !== "BlockBlob") {
    throw invalidHeader("x-ms-blob-type", type, "Only a BlockBlob is made from a URL in one step.");
  }
  requireMd5(headers);
  const key = keyOf(call.request);
  const own = propertiesOf(headers);
  const copiesProperties = headers.get(COPIES) === undefined || flagOf(headers, COPIES);
  const digests = sourceDigestsOf(headers);
  const done = await putBlobFromUrl(context, {
    ...blobUseOf(call),
    key,
    tags: tagsOf(headers),
    copiesTags: copiesTagsOf(headers),
    tier: tierOf(call),
    source: await wholeSourceOf(context, call, KNOWN, roleOf(headers)),
    bytesMax: putBlobBytesMax(call.version),
    digests,
    computed: digestsOfSource(call.version, digests),
    properties: copiesProperties
      ? own
      : { ...own, contentType: own.contentType || DEFAULT_CONTENT_TYPE },
    copiesProperties,
    metadata: metadataOf(headers),
  });
  return {
    status: 201,
    headers: [...writtenHeaders(done), ...digestHeaders(done), ...encryptedHeaders(key)],
    body: null,
  };
}

/** Like the service, treats conditions on ETags as a copy does, and on dates as a read does. */
function roleOf(headers: RequestHeaders): SourceRole {
  const etags = ["x-ms-source-if-match", "x-ms-source-if-none-match"];
  return etags.some((name) => headers.get(name) !== undefined) ? "copied" : "read";
}
