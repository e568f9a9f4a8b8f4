import type { BlobContext } from "../../../service/blob/context.ts";
import { putBlob } from "../../../service/blob/put-blob.ts";
import { encryptedHeaders, keyOf } from "../customer-key.ts";
import type { RestResponse } from "../http/exchange.ts";
import { pastOf } from "../past.ts";
import {
  digestsOf,
  invalidHeader,
  leaseIdOf,
  metadataOf,
  requireHeader,
} from "../request-headers.ts";
import { digestHeaders } from "../response-headers.ts";
import { incomingBody } from "../stored-body.ts";
import { blobConditionsOf } from "./blob-conditions.ts";
import { writtenHeaders } from "./blob-revision.ts";
import { tagsOf } from "./blob-tags.ts";
import { putBlobBytesMax } from "./body-limits.ts";
import { addressOf, type BlobCall } from "./call.ts";
import { createAppendBlob, createPageBlob } from "./create-blob.ts";
import { propertiesOfBody, requireMd5 } from "./properties.ts";
import { tierOf } from "./tier-headers.ts";
import { requireSupportedOnCreation } from "./unsupported.ts";

export function handlePutBlob(context: BlobContext, call: BlobCall): Promise<RestResponse> {
  const name = "x-ms-blob-type";
  const type = requireHeader(call.request.headers, name);
  switch (type) {
    case "BlockBlob":
      return putBlockBlob(context, call);
    case "PageBlob":
      return createPageBlob(context, call);
    case "AppendBlob":
      return createAppendBlob(context, call);
    default:
      throw invalidHeader(name, type, "It must be BlockBlob, PageBlob or AppendBlob.");
  }
}

async function putBlockBlob(context: BlobContext, call: BlobCall): Promise<RestResponse> {
  const { headers } = call.request;
  requireSupportedOnCreation(call.request);
  const key = keyOf(call.request);
  requireMd5(headers);
  const incoming = incomingBody(call.request, putBlobBytesMax(call.version));
  const done = await putBlob(context, {
    at: addressOf(call),
    access: call.access,
    leaseId: leaseIdOf(headers),
    conditions: blobConditionsOf(headers),
    key,
    body: incoming.body,
    digests: digestsOf(headers),
    properties: propertiesOfBody(headers),
    metadata: metadataOf(headers),
    tags: tagsOf(headers),
    tier: tierOf(call),
    past: pastOf(headers),
  });
  return {
    status: 201,
    headers: [
      ...writtenHeaders(done),
      ...digestHeaders(done),
      ...encryptedHeaders(key),
      ...incoming.echo,
    ],
    body: null,
  };
}
