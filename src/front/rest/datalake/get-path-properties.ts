import type { BlobRead } from "../../../service/blob/context.ts";
import { getBlobProperties, getPathStatus } from "../../../service/blob/get-blob-properties.ts";
import type { BlobFront } from "../blob/call.ts";
import { withOverrides } from "../content-properties.ts";
import type { RestResponse } from "../http/exchange.ts";
import { digestHeaders } from "../response-headers.ts";
import { type DataLakeCall, pathUseOf } from "./call.ts";
import { pathHeaders, statusHeaders } from "./path-headers.ts";

const SERVER_ENCRYPTED = ["x-ms-server-encrypted", "true"];

export async function handleGetPathProperties(
  context: BlobFront,
  call: DataLakeCall,
): Promise<RestResponse> {
  const found = await getBlobProperties(context, currentOf(call));
  const { content, properties } = found.blob;
  const answer = [
    ...pathHeaders(found),
    ...digestHeaders({ md5: properties.contentMd5, crc64: null }),
    ...SERVER_ENCRYPTED,
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
  const found = await getPathStatus(context, currentOf(call));
  const length = ["Content-Length", String(found.blob.content.length)];
  return {
    status: 200,
    headers: [...statusHeaders(found), ...SERVER_ENCRYPTED, ...length],
    body: null,
  };
}

function currentOf(call: DataLakeCall): BlobRead {
  const use = pathUseOf(call);
  return { ...use, at: { ...use.at, revision: null } };
}
