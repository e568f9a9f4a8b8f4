import { Fault } from "../../../base/fault.ts";
import type { BlobContext } from "../../../service/blob/context.ts";
import { type PutBlob, putBlob } from "../../../service/blob/put-blob.ts";
import type { RestResponse } from "../http/exchange.ts";
import {
  conditionsOf,
  digestsOf,
  leaseIdOf,
  metadataOf,
  requireHeader,
} from "../request-headers.ts";
import { versionHeaders } from "../response-headers.ts";
import { putBlobBytesMax, takeBody } from "./body.ts";
import type { BlobCall } from "./call.ts";
import { propertiesOf } from "./properties.ts";
import { refuseUnsupportedOnWrite } from "./unsupported.ts";

export async function handlePutBlob(context: BlobContext, call: BlobCall): Promise<RestResponse> {
  const { headers } = call.request;
  const type = requireHeader(headers, "x-ms-blob-type");
  if (type !== "BlockBlob")
    throw new Fault("NotImplemented", { HeaderName: "x-ms-blob-type", HeaderValue: type });
  refuseUnsupportedOnWrite(headers);
  const taken = takeBody(call.request, putBlobBytesMax(call.version));
  const asked: PutBlob = {
    at: call,
    access: call.access,
    body: taken.body,
    digests: digestsOf(headers),
    properties: propertiesOf(headers),
    metadata: metadataOf(headers),
    conditions: conditionsOf(headers),
    leaseId: leaseIdOf(headers),
  };
  const done = await putBlob(context, asked);
  return {
    status: 201,
    headers: [
      ...versionHeaders(done),
      ...digestHeaders(done),
      "x-ms-request-server-encrypted",
      "true",
      ...taken.echo,
    ],
    body: null,
  };
}
