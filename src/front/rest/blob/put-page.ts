import { PUT_PAGE_BYTES_MAX } from "../../../base/limits.ts";
import type { CustomerKey } from "../../../rules/encryption.ts";
import type { BlobContext } from "../../../service/blob/context.ts";
import { clearPage, type PutPageDone, putPage } from "../../../service/blob/put-page.ts";
import { encryptedHeaders, keyOf } from "../customer-key.ts";
import type { RestResponse } from "../http/exchange.ts";
import { digestsOf, invalidHeader, leaseIdOf, requireHeader } from "../request-headers.ts";
import { digestHeaders, versionHeaders } from "../response-headers.ts";
import { incomingBody, requireNoBody } from "../stored-body.ts";
import { blobConditionsOf } from "./blob-conditions.ts";
import { addressOf, type BlobCall } from "./call.ts";
import { digestsOfBody } from "./computed-digests.ts";
import { requirePageBlobsKnown } from "./create-blob.ts";
import { pageRangeOf, sequenceConditionsOf } from "./page-headers.ts";
import { requireSupportedOnWrite } from "./unsupported.ts";

export async function handlePutPage(context: BlobContext, call: BlobCall): Promise<RestResponse> {
  const { headers } = call.request;
  requirePageBlobsKnown(call.version);
  requireSupportedOnWrite(call.request);
  const name = "x-ms-page-write";
  const write = requireHeader(headers, name).toLowerCase();
  if (write === "clear") return clear(context, call);
  if (write === "update") return update(context, call);
  throw invalidHeader(name, write, "It must be update or clear.");
}

async function update(context: BlobContext, call: BlobCall): Promise<RestResponse> {
  const { headers } = call.request;
  const incoming = incomingBody(call.request, PUT_PAGE_BYTES_MAX);
  const asked = pageWriteOf(call);
  const { from, until } = asked.range;
  if (incoming.body.length !== until - from) {
    const reason = `The range has ${until - from} bytes, and the body must have as many.`;
    throw invalidHeader("Content-Length", String(incoming.body.length), reason);
  }
  const digests = digestsOf(headers);
  return pagesWritten(
    await putPage(context, {
      at: asked.at,
      access: asked.access,
      leaseId: asked.leaseId,
      conditions: asked.conditions,
      range: asked.range,
      sequence: asked.sequence,
      key: asked.key,
      body: incoming.body,
      digests,
      computed: digestsOfBody(call.version, digests),
    }),
    asked.key,
    incoming.echo,
  );
}

async function clear(context: BlobContext, call: BlobCall): Promise<RestResponse> {
  requireNoBody(call.request);
  const asked = pageWriteOf(call);
  return pagesWritten(await clearPage(context, asked), asked.key);
}

export function pageWriteOf(call: BlobCall) {
  const { headers } = call.request;
  return {
    at: addressOf(call),
    access: call.access,
    leaseId: leaseIdOf(headers),
    conditions: blobConditionsOf(headers),
    range: pageRangeOf(headers),
    sequence: sequenceConditionsOf(headers),
    key: keyOf(call.request),
  };
}

export function pagesWritten(
  done: PutPageDone,
  key: CustomerKey | null,
  echo: readonly string[] = [],
): RestResponse {
  return {
    status: 201,
    headers: [
      ...versionHeaders(done),
      ...digestHeaders(done),
      "x-ms-blob-sequence-number",
      String(done.sequenceNumber),
      ...encryptedHeaders(key),
      ...echo,
    ],
    body: null,
  };
}
