import type { BlobAddress, BlobUse, ContainerUpdate } from "../../../service/blob/context.ts";
import { blobConditionsOf } from "../blob/blob-conditions.ts";
import type { BlobFront } from "../blob/call.ts";
import type { RestResponse } from "../http/exchange.ts";
import { conditionsOf, leaseIdOf, requireNoHeaders } from "../request-headers.ts";
import type { StorageCall } from "../storage-rest-service.ts";
import type { DataLakeRoute } from "./route.ts";

/** One call of a Data Lake operation. */
export type DataLakeCall = StorageCall<DataLakeRoute>;

export type DataLakeHandler = (context: BlobFront, call: DataLakeCall) => Promise<RestResponse>;

export function addressOf({ account, route }: DataLakeCall): BlobAddress {
  return { account, container: route.container, blob: route.blob };
}

/** The parameters that most operations on a path take. */
export function pathUseOf(call: DataLakeCall): BlobUse {
  const { headers } = call.request;
  requireNoCustomerKey(call);
  return {
    at: addressOf(call),
    access: call.access,
    leaseId: leaseIdOf(headers),
    conditions: blobConditionsOf(headers),
  };
}

const CUSTOMER_KEY = [
  "x-ms-encryption-key",
  "x-ms-encryption-key-sha256",
  "x-ms-encryption-algorithm",
];

/** Refuses keys of customers, so that no client believes that they encrypt anything. */
export function requireNoCustomerKey({ request }: DataLakeCall): void {
  requireNoHeaders(request.headers, CUSTOMER_KEY);
}

export const ENCRYPTED = ["x-ms-request-server-encrypted", "true"];

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
