import type { ServiceAsked } from "../../../service/account/context.ts";
import type {
  BlobAddress,
  BlobContext,
  BlobUse,
  ContainerUpdate,
} from "../../../service/blob/context.ts";
import type { RestResponse } from "../http/exchange.ts";
import { conditionsOf, leaseIdOf } from "../request-headers.ts";
import type { StorageCall } from "../storage-rest-service.ts";
import type { BlobRoute } from "./route.ts";

/** One call of a Blob operation. */
export type BlobCall = StorageCall<BlobRoute>;

export type BlobHandler = (context: BlobContext, call: BlobCall) => Promise<RestResponse>;

export function addressOf({ account, route }: BlobCall): BlobAddress {
  return { account, container: route.container, blob: route.blob };
}

/** What every update of a container may carry. */
export function containerUpdateOf(call: BlobCall): ContainerUpdate {
  return blobUseOf(call);
}

/** What nearly everything that is asked of a blob may carry. */
export function blobUseOf(call: BlobCall): BlobUse {
  const { headers } = call.request;
  return {
    at: addressOf(call),
    access: call.access,
    leaseId: leaseIdOf(headers),
    conditions: conditionsOf(headers),
  };
}

export function serviceAskedOf({ account, access }: BlobCall): ServiceAsked {
  return { at: { account, service: "blob" }, access };
}
