import type { BlobContext } from "../../../service/blob/context.ts";
import { getBlobTags } from "../../../service/blob/get-blob-tags.ts";
import type { RestResponse } from "../http/exchange.ts";
import { XML_CONTENT } from "../response-headers.ts";
import { XML_DECLARATION } from "../xml/write-xml.ts";
import { tagsElement } from "./blob-tags.ts";
import { type BlobCall, blobReadOf } from "./call.ts";
import { requireNoKey } from "./unsupported.ts";

export async function handleGetBlobTags(
  context: BlobContext,
  call: BlobCall,
): Promise<RestResponse> {
  requireNoKey(call.request);
  const tags = await getBlobTags(context, blobReadOf(call, "x-ms-blob-"));
  return { status: 200, headers: [...XML_CONTENT], body: XML_DECLARATION + tagsElement(tags) };
}
