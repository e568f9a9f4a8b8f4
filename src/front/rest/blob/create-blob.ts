import { Fault } from "../../../base/fault.ts";
import type { BlobContext } from "../../../service/blob/context.ts";
import { type CreateBlob, createBlob } from "../../../service/blob/create-blob.ts";
import { encryptedHeaders, keyOf } from "../customer-key.ts";
import type { RestResponse } from "../http/exchange.ts";
import { metadataOf, requireHeader } from "../request-headers.ts";
import { requireNoBody } from "../stored-body.ts";
import { writtenHeaders } from "./blob-revision.ts";
import { tagsOf } from "./blob-tags.ts";
import { type BlobCall, blobUseOf } from "./call.ts";
import { pageBlobLengthOf, sequenceNumberOf } from "./page-headers.ts";
import { propertiesOfBody } from "./properties.ts";
import { requireNoTier } from "./tier-headers.ts";
import { requireSupportedOnCreation } from "./unsupported.ts";

const OF_PAGE_BLOBS = ["x-ms-blob-content-length", "x-ms-blob-sequence-number"];

/** Put Blob of page and append blobs, which begin without bytes. */

export async function createPageBlob(context: BlobContext, call: BlobCall): Promise<RestResponse> {
  const { headers } = call.request;
  requirePageBlobsKnown(call.version);
  requireSupportedOnCreation(call.request, OF_PAGE_BLOBS);
  requireHeader(headers, "x-ms-blob-content-length");
  return create(context, call, {
    type: "PageBlob",
    length: pageBlobLengthOf(headers) ?? 0,
    sequenceNumber: sequenceNumberOf(headers, "x-ms-blob-sequence-number") ?? 0n,
  });
}

export async function createAppendBlob(
  context: BlobContext,
  call: BlobCall,
): Promise<RestResponse> {
  requireAppendBlobsKnown(call.version);
  requireSupportedOnCreation(call.request);
  return create(context, call, { type: "AppendBlob", length: 0, sequenceNumber: 0n });
}

const APPEND_BLOBS_SINCE = "2015-02-21";

/** Clients of older versions do not know append blobs. */
export function requireAppendBlobsKnown(version: string): void {
  if (version >= APPEND_BLOBS_SINCE) return;
  throw new Fault("FeatureVersionMismatch", {
    HeaderName: "x-ms-version",
    HeaderValue: version,
    Reason: `Append blobs need version ${APPEND_BLOBS_SINCE} or later.`,
  });
}

const PAGE_BLOBS_SINCE = "2009-09-19";

/** Before, there were block blobs only. */
export function requirePageBlobsKnown(version: string): void {
  if (version >= PAGE_BLOBS_SINCE) return;
  throw new Fault("InvalidVersionForPageBlobOperation", {
    HeaderName: "x-ms-version",
    HeaderValue: version,
    Reason: `Page blobs need version ${PAGE_BLOBS_SINCE} or later.`,
  });
}

async function create(
  context: BlobContext,
  call: BlobCall,
  what: Pick<CreateBlob, "type" | "length" | "sequenceNumber">,
): Promise<RestResponse> {
  const { headers } = call.request;
  if (headers.get("content-length") === undefined) throw new Fault("MissingContentLengthHeader");
  requireNoBody(call.request);
  requireNoTier(headers, what.type);
  const key = keyOf(call.request);
  const version = await createBlob(context, {
    ...blobUseOf(call),
    key,
    ...what,
    properties: propertiesOfBody(headers),
    metadata: metadataOf(headers),
    tags: tagsOf(headers),
    tier: null,
  });
  return {
    status: 201,
    headers: [...writtenHeaders(version), ...encryptedHeaders(key)],
    body: null,
  };
}
