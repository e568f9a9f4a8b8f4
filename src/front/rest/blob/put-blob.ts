import { Fault } from "../../../base/fault.ts";
import type { BlobContext } from "../../../service/blob/context.ts";
import { putBlob } from "../../../service/blob/put-blob.ts";
import type { RestResponse } from "../http/exchange.ts";
import { digestsOf, invalidHeader, metadataOf, requireHeader } from "../request-headers.ts";
import { digestHeaders, versionHeaders } from "../response-headers.ts";
import { incomingBody, putBlobBytesMax } from "./body.ts";
import { type BlobCall, blobUseOf } from "./call.ts";
import { propertiesOfBody } from "./properties.ts";
import { refuseUnsupportedOnWrite } from "./unsupported.ts";

export async function handlePutBlob(context: BlobContext, call: BlobCall): Promise<RestResponse> {
  const { headers } = call.request;
  refuseType(requireHeader(headers, "x-ms-blob-type"));
  refuseUnsupportedOnWrite(call.request);
  const incoming = incomingBody(call.request, putBlobBytesMax(call.version));
  const done = await putBlob(context, {
    ...blobUseOf(call),
    body: incoming.body,
    digests: digestsOf(headers),
    properties: propertiesOfBody(headers),
    metadata: metadataOf(headers),
  });
  return {
    status: 201,
    headers: [
      ...versionHeaders(done),
      ...digestHeaders(done),
      "x-ms-request-server-encrypted",
      "true",
      ...incoming.echo,
    ],
    body: null,
  };
}

function refuseType(type: string): void {
  if (type === "BlockBlob") return;
  const name = "x-ms-blob-type";
  if (type !== "PageBlob" && type !== "AppendBlob") throw invalidHeader(name, type);
  throw new Fault("NotImplemented", {
    HeaderName: name,
    HeaderValue: type,
    Reason: "This server has block blobs only, so far.",
  });
}
