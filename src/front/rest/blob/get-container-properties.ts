import type { BlobContext } from "../../../service/blob/context.ts";
import { getContainerProperties } from "../../../service/blob/get-container-properties.ts";
import type { RestResponse } from "../http/exchange.ts";
import { leaseIdOf } from "../request-headers.ts";
import { leaseHeaders, metadataHeaders, versionHeaders } from "../response-headers.ts";
import { addressOf, type BlobCall } from "./call.ts";
import { publicAccessHeaders } from "./public-access.ts";

/** Features that no container has here, as the service reports them. */
const FIXED_HEADERS = [
  "x-ms-has-immutability-policy",
  "false",
  "x-ms-has-legal-hold",
  "false",
  "x-ms-immutable-storage-with-versioning-enabled",
  "false",
  "x-ms-default-encryption-scope",
  "$account-encryption-key",
  "x-ms-deny-encryption-scope-override",
  "false",
];

export async function handleGetContainerProperties(
  context: BlobContext,
  call: BlobCall,
): Promise<RestResponse> {
  const { container, lease } = await getContainerProperties(context, {
    at: addressOf(call),
    access: call.access,
    leaseId: leaseIdOf(call.request.headers),
  });
  return {
    status: 200,
    headers: [
      ...versionHeaders(container),
      ...metadataHeaders(container.metadata),
      ...leaseHeaders(lease),
      ...publicAccessHeaders(container.publicAccess),
      ...FIXED_HEADERS,
    ],
    body: null,
  };
}
