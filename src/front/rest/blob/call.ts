import type { ServiceAsked } from "../../../service/account/context.ts";
import type {
  BlobAddress,
  BlobRead,
  BlobRevisionAddress,
  BlobUse,
  ContainerUpdate,
} from "../../../service/blob/context.ts";
import type { CopyContext } from "../../../service/blob/fetch-copy.ts";
import type { RestResponse } from "../http/exchange.ts";
import { conditionsOf, leaseIdOf, requireNoHeaders } from "../request-headers.ts";
import type { CopySources } from "../source/copy-sources.ts";
import type { StorageCall } from "../storage-rest-service.ts";
import { blobConditionsOf } from "./blob-conditions.ts";
import { refuseRevision, revisionOf } from "./blob-revision.ts";
import type { BlobRoute } from "./route.ts";

/** One call of a Blob operation. */
export type BlobCall = StorageCall<BlobRoute>;

/** What handlers work with: the service's own things, and what names of sources stand for. */
export interface BlobFront extends CopyContext {
  readonly sources: CopySources;
}

export type BlobHandler = (context: BlobFront, call: BlobCall) => Promise<RestResponse>;

/** Of a container or of the current blob: nothing else can be written. */
export function addressOf({ account, route, request }: BlobCall): BlobAddress {
  refuseRevision(request.query);
  return { account, container: route.container, blob: route.blob };
}

/** Of the blob, the snapshot or the version that is asked for. */
export function revisionAddressOf({ account, route, request }: BlobCall): BlobRevisionAddress {
  const revision = revisionOf(request.query);
  return { account, container: route.container, blob: route.blob, revision };
}

/** What every update of a container may carry. */
export function containerUpdateOf(call: BlobCall): ContainerUpdate {
  const { headers } = call.request;
  requireNoHeaders(headers, ["x-ms-if-tags"]);
  return {
    at: addressOf(call),
    access: call.access,
    leaseId: leaseIdOf(headers),
    conditions: conditionsOf(headers),
  };
}

/** What nearly every read of a blob may carry; some call the conditions by names with a prefix. */
export function blobReadOf(call: BlobCall, prefix = ""): BlobRead {
  const { headers } = call.request;
  return {
    at: revisionAddressOf(call),
    access: call.access,
    leaseId: leaseIdOf(headers),
    conditions: blobConditionsOf(headers, prefix),
  };
}

/** What nearly every write of a blob may carry. */
export function blobUseOf(call: BlobCall): BlobUse {
  const { headers } = call.request;
  return {
    at: addressOf(call),
    access: call.access,
    leaseId: leaseIdOf(headers),
    conditions: blobConditionsOf(headers),
  };
}

export function serviceAskedOf({ account, access }: BlobCall): ServiceAsked {
  return { at: { account, service: "blob" }, access };
}
