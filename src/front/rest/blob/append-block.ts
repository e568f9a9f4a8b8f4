import type { AppendConditions } from "../../../rules/append-block.ts";
import type { CustomerKey } from "../../../rules/encryption.ts";
import { type AppendBlockDone, appendBlock } from "../../../service/blob/append-block.ts";
import type { BlobContext } from "../../../service/blob/context.ts";
import { encryptedHeaders, keyOf } from "../customer-key.ts";
import type { RequestHeaders, RestResponse } from "../http/exchange.ts";
import { digestsOf, invalidHeader, leaseIdOf, numberOf } from "../request-headers.ts";
import { digestHeaders, versionHeaders } from "../response-headers.ts";
import { incomingBody } from "../stored-body.ts";
import { blobConditionsOf } from "./blob-conditions.ts";
import { appendBlockBytesMax } from "./body-limits.ts";
import { addressOf, type BlobCall } from "./call.ts";
import { digestsOfBody } from "./computed-digests.ts";
import { requireAppendBlobsKnown } from "./create-blob.ts";
import { requireSupportedOnWrite } from "./unsupported.ts";

export async function handleAppendBlock(
  context: BlobContext,
  call: BlobCall,
): Promise<RestResponse> {
  const { headers } = call.request;
  requireAppendBlobsKnown(call.version);
  requireSupportedOnWrite(call.request);
  const key = keyOf(call.request);
  const incoming = incomingBody(call.request, appendBlockBytesMax(call.version));
  if (incoming.body.length === 0) {
    throw invalidHeader("Content-Length", "0", "A block has at least one byte.");
  }
  const digests = digestsOf(headers);
  const done = await appendBlock(context, {
    at: addressOf(call),
    access: call.access,
    leaseId: leaseIdOf(headers),
    conditions: blobConditionsOf(headers),
    body: incoming.body,
    digests,
    computed: digestsOfBody(call.version, digests),
    append: appendConditionsOf(headers),
    key,
  });
  return appended(done, key, incoming.echo);
}

export function appended(
  done: AppendBlockDone,
  key: CustomerKey | null,
  echo: readonly string[] = [],
): RestResponse {
  return {
    status: 201,
    headers: [
      ...versionHeaders(done),
      ...digestHeaders(done),
      "x-ms-blob-append-offset",
      String(done.offset),
      "x-ms-blob-committed-block-count",
      String(done.blocks),
      ...encryptedHeaders(key),
      ...echo,
    ],
    body: null,
  };
}

export function appendConditionsOf(headers: RequestHeaders): AppendConditions {
  return {
    position: appendPositionOf(headers),
    bytesMax: numberOf(headers, "x-ms-blob-condition-maxsize", 0, Number.MAX_SAFE_INTEGER),
  };
}

export function appendPositionOf(headers: RequestHeaders): number | null {
  return numberOf(headers, "x-ms-blob-condition-appendpos", 0, Number.MAX_SAFE_INTEGER);
}
