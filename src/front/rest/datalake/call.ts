import type { CustomerKey } from "../../../rules/encryption.ts";
import type { BlobAddress, BlobUse, ContainerUpdate } from "../../../service/blob/context.ts";
import { blobConditionsOf } from "../blob/blob-conditions.ts";
import type { BlobFront } from "../blob/call.ts";
import { KEY_HEADERS } from "../customer-key.ts";
import type { RestResponse } from "../http/exchange.ts";
import { deletedVersionIn } from "../past.ts";
import { conditionsOf, leaseIdOf, requireNoHeaders } from "../request-headers.ts";
import type { StorageCall } from "../storage-rest-service.ts";
import type { DataLakeRoute } from "./route.ts";

/** One call of a Data Lake operation. */
export type DataLakeCall = StorageCall<DataLakeRoute>;

export type DataLakeHandler = (context: BlobFront, call: DataLakeCall) => Promise<RestResponse>;

export function addressOf({ account, route, request }: DataLakeCall): BlobAddress {
  return { account, container: route.container, blob: route.blob, ...deletedVersionIn(request) };
}

/** The parameters that most operations on a path take. */
export function pathUseOf(call: DataLakeCall): BlobUse {
  requireNoHeaders(call.request.headers, KEY_HEADERS);
  return keyedPathUseOf(call, null);
}

/** The same for operations that take a key. */
export function keyedPathUseOf<K extends CustomerKey | null>(
  call: DataLakeCall,
  key: K,
): BlobUse & { readonly key: K } {
  const { headers } = call.request;
  return {
    key,
    at: addressOf(call),
    access: call.access,
    leaseId: leaseIdOf(headers),
    conditions: blobConditionsOf(headers),
  };
}

/** The parameters that every update of a file system takes. */
export function filesystemUpdateOf(call: DataLakeCall): ContainerUpdate {
  const { headers } = call.request;
  return {
    at: addressOf(call),
    access: call.access,
    leaseId: leaseIdOf(headers),
    conditions: conditionsOf(headers),
  };
}
