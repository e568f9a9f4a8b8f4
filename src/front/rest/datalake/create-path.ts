import { createPath } from "../../../service/blob/create-path.ts";
import type { BlobFront } from "../blob/call.ts";
import { expiryOf } from "../blob/set-blob-expiry.ts";
import { DEFAULT_CONTENT_TYPE } from "../content-properties.ts";
import { encryptedHeaders, keyOf } from "../customer-key.ts";
import type { RestRequest, RestResponse } from "../http/exchange.ts";
import { acquiredLeaseOf } from "../lease-headers.ts";
import { requireNoHeaders } from "../request-headers.ts";
import { versionHeaders } from "../response-headers.ts";
import { requireNoBody } from "../stored-body.ts";
import { askedNewControlOf } from "./access-control-headers.ts";
import { type DataLakeCall, keyedPathUseOf } from "./call.ts";
import { contentPropertiesOfPath, propertyPairsOf } from "./path-properties.ts";

export async function handleCreatePath(
  context: BlobFront,
  call: DataLakeCall,
): Promise<RestResponse> {
  const { request } = call;
  const { headers, query } = request;
  requireNoHeaders(headers, ["x-ms-encryption-scope"]);
  requireNoBody(request);
  const key = keyOf(request);
  const properties = contentPropertiesOfPath(headers);
  const done = await createPath(context, {
    ...keyedPathUseOf(call, key),
    kind: query.get("resource")?.toLowerCase() === "directory" ? "directory" : "file",
    properties: { ...properties, contentType: properties.contentType || DEFAULT_CONTENT_TYPE },
    metadata: propertyPairsOf(headers) ?? [],
    lease: leaseOf(request),
    control: askedNewControlOf(headers),
    expiry: expiryOf(headers),
    encryptionContext: headers.get("x-ms-encryption-context") ?? "",
  });
  return {
    status: 201,
    headers: [...versionHeaders(done), ...encryptedHeaders(key)],
    body: null,
  };
}

/** A lease id to begin with is proposed, and a duration comes with it. */
function leaseOf({ headers }: RestRequest) {
  const names = ["x-ms-proposed-lease-id", "x-ms-lease-duration"];
  const isAsked = names.some((name) => headers.get(name) !== undefined);
  return isAsked ? acquiredLeaseOf(headers) : null;
}
