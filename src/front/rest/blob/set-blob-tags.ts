import { KIB } from "../../../base/limits.ts";
import type { BlobContext } from "../../../service/blob/context.ts";
import { setBlobTags } from "../../../service/blob/set-blob-tags.ts";
import type { RestResponse } from "../http/exchange.ts";
import { invalidQuery } from "../request-query.ts";
import { readXmlBody } from "../xml-body.ts";
import { tagsOfXml } from "./blob-tags.ts";
import { type BlobCall, blobReadOf } from "./call.ts";
import { requireNoKey, requireSupportedOnWrite } from "./unsupported.ts";

const BODY_BYTES_MAX = 32 * KIB;

export async function handleSetBlobTags(
  context: BlobContext,
  call: BlobCall,
): Promise<RestResponse> {
  requireNoKey(call.request);
  requireSupportedOnWrite(call.request);
  const asked = blobReadOf(call, "x-ms-blob-");
  if (asked.at.revision?.kind === "snapshot") {
    const value = call.request.query.get("snapshot") ?? "";
    throw invalidQuery("snapshot", value, "The tags of a snapshot stay as they are.");
  }
  const tags = tagsOfXml(await readXmlBody(call.request, BODY_BYTES_MAX));
  await setBlobTags(context, { ...asked, tags });
  return { status: 204, headers: [], body: null };
}
