import type { BlobContext } from "../../../service/blob/context.ts";
import { getBlobProperties } from "../../../service/blob/get-blob-properties.ts";
import { withOverrides } from "../content-properties.ts";
import { readKeyOf } from "../customer-key.ts";
import type { RestResponse } from "../http/exchange.ts";
import { digestHeaders } from "../response-headers.ts";
import { blobHeaders } from "./blob-headers.ts";
import { type BlobCall, blobReadOf } from "./call.ts";

export async function handleGetBlobProperties(
  context: BlobContext,
  call: BlobCall,
): Promise<RestResponse> {
  const key = readKeyOf(call.request);
  const found = await getBlobProperties(context, { ...blobReadOf(call), key });
  const { content, properties } = found.blob;
  const answer = [
    ...blobHeaders(found),
    ...digestHeaders({ md5: properties.contentMd5, crc64: null }),
    "Content-Length",
    String(content.length),
  ];
  return { status: 200, headers: withOverrides(answer, call.overrides), body: null };
}
