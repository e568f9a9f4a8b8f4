import { Fault } from "../../../base/fault.ts";
import type { BlobContext } from "../../../service/blob/context.ts";
import { putBlock } from "../../../service/blob/put-block.ts";
import { encryptedHeaders, keyOf } from "../customer-key.ts";
import type { Query, RestResponse } from "../http/exchange.ts";
import { digestsOf, invalidHeader, leaseIdOf, requireNoHeaders } from "../request-headers.ts";
import { digestHeaders } from "../response-headers.ts";
import { incomingBody } from "../stored-body.ts";
import { putBlockBytesMax } from "./body-limits.ts";
import { addressOf, type BlobCall } from "./call.ts";
import { digestsOfBody } from "./computed-digests.ts";
import { requireSupportedOnWrite } from "./unsupported.ts";

export async function handlePutBlock(context: BlobContext, call: BlobCall): Promise<RestResponse> {
  const { headers, query } = call.request;
  requireSupportedOnWrite(call.request);
  requireNoHeaders(headers, ["x-ms-if-tags"]);
  const key = keyOf(call.request);
  const blockId = blockIdOf(query);
  const incoming = incomingBody(call.request, putBlockBytesMax(call.version));
  if (incoming.body.length === 0) {
    throw invalidHeader("Content-Length", "0", "A block has at least one byte.");
  }
  const digests = digestsOf(headers);
  const done = await putBlock(context, {
    at: addressOf(call),
    access: call.access,
    blockId,
    key,
    body: incoming.body,
    digests,
    computed: digestsOfBody(call.version, digests),
    leaseId: leaseIdOf(headers),
  });
  return {
    status: 201,
    headers: [...digestHeaders(done), ...encryptedHeaders(key), ...incoming.echo],
    body: null,
  };
}

export function blockIdOf(query: Query): string {
  const blockId = query.get("blockid");
  if (blockId !== undefined) return blockId;
  throw new Fault("MissingRequiredQueryParameter", { QueryParameterName: "blockid" });
}
