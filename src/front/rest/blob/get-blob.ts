import type { BlobContext } from "../../../service/blob/context.ts";
import { type GetBlobDone, getBlob } from "../../../service/blob/get-blob.ts";
import { rangeDigestsOf, rangeOf } from "../byte-range.ts";
import { withOverrides } from "../content-properties.ts";
import type { RestResponse } from "../http/exchange.ts";
import { leaseIdOf } from "../request-headers.ts";
import { digestHeaders } from "../response-headers.ts";
import { sentBody, structuredFormOf } from "../stored-body.ts";
import { blobConditionsOf } from "./blob-conditions.ts";
import { blobHeaders } from "./blob-headers.ts";
import { type BlobCall, revisionAddressOf } from "./call.ts";
import { requireSupportedOnRead } from "./unsupported.ts";

export async function handleGetBlob(context: BlobContext, call: BlobCall): Promise<RestResponse> {
  const { headers } = call.request;
  requireSupportedOnRead(call.request);
  const range = rangeOf(headers);
  const form = structuredFormOf(headers);
  const done = await getBlob(context, {
    at: revisionAddressOf(call),
    access: call.access,
    leaseId: leaseIdOf(headers),
    conditions: blobConditionsOf(headers),
    range,
    digests: rangeDigestsOf(headers, range),
  });
  const found = blobHeaders(done);
  found.push(...(range === null ? wholeHeaders(done) : rangeHeaders(done)));
  const sent = sentBody(done.reading, form);
  found.push(...sent.headers);
  return {
    status: range === null ? 200 : 206,
    headers: withOverrides(found, call.overrides),
    body: sent.body,
  };
}

function wholeHeaders({ blob }: GetBlobDone): string[] {
  return digestHeaders({ md5: blob.properties.contentMd5, crc64: null });
}

/** Content-MD5 covers the bytes in the response, so the blob's MD5 has its own header. */
function rangeHeaders({ blob, from, reading, md5, crc64 }: GetBlobDone): string[] {
  const to = from + reading.length - 1;
  const headers = ["Content-Range", `bytes ${from}-${to}/${blob.content.length}`];
  headers.push(...digestHeaders({ md5, crc64 }));
  const whole = blob.properties.contentMd5;
  if (whole !== null) headers.push("x-ms-blob-content-md5", whole.toString("base64"));
  return headers;
}
