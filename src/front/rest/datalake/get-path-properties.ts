import type { BlobRead, BlobUse } from "../../../service/blob/context.ts";
import { getBlobProperties, getPathStatus } from "../../../service/blob/get-blob-properties.ts";
import { storedKeyHeaders } from "../blob/blob-headers.ts";
import type { BlobFront } from "../blob/call.ts";
import { withOverrides } from "../content-properties.ts";
import { readKeyOf } from "../customer-key.ts";
import type { RestResponse } from "../http/exchange.ts";
import { digestHeaders } from "../response-headers.ts";
import { type DataLakeCall, keyedPathUseOf, pathUseOf } from "./call.ts";
import { pathHeaders, statusHeaders } from "./path-headers.ts";

const SERVER_ENCRYPTED = ["x-ms-server-encrypted", "true"];

export async function handleGetPathProperties(
  context: BlobFront,
  call: DataLakeCall,
): Promise<RestResponse> {
  const key = readKeyOf(call.request);
  const found = await getBlobProperties(context, currentOf(keyedPathUseOf(call, key)));
  const { content, properties } = found.blob;
  const answer = [
    ...pathHeaders(found),
    ...digestHeaders({ md5: properties.contentMd5, crc64: null }),
    ...SERVER_ENCRYPTED,
    ...storedKeyHeaders(found.blob),
    "Content-Length",
    String(content.length),
  ];
  return { status: 200, headers: withOverrides(answer, call.overrides), body: null };
}

/** The properties of a path without those that its users gave it. */
export async function handleGetPathStatus(
  context: BlobFront,
  call: DataLakeCall,
): Promise<RestResponse> {
  const found = await getPathStatus(context, currentOf(pathUseOf(call)));
  const length = ["Content-Length", String(found.blob.content.length)];
  return {
    status: 200,
    headers: [...statusHeaders(found), ...SERVER_ENCRYPTED, ...length],
    body: null,
  };
}

function currentOf(use: BlobUse): BlobRead {
  return { ...use, at: { ...use.at, revision: null } };
}
