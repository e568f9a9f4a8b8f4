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
import { deletedVersionIn } from "../past.ts";
import { conditionsOf, leaseIdOf, requireNoHeaders } from "../request-headers.ts";
import type { CopySources } from "../source/copy-sources.ts";
import type { StorageCall } from "../storage-rest-service.ts";
import { blobConditionsOf } from "./blob-conditions.ts";
import { requireCurrentRevision, revisionOf } from "./blob-revision.ts";
import type { BlobRoute } from "./route.ts";

/** One call of a Blob operation. */
export type BlobCall = StorageCall<BlobRoute>;

/** The dependencies of handlers: the service's, and the resolver of copy sources. */
export interface BlobFront extends CopyContext {
  readonly sources: CopySources;
  /** Whether requests come through the Data Lake endpoint. */
  readonly isDataLake?: boolean;
}

export type BlobHandler = (context: BlobFront, call: BlobCall) => Promise<RestResponse>;

/** The address of a container or current blob. Refuses other revisions, which cannot be written. */
export function addressOf({ account, route, request }: BlobCall): BlobAddress {
  requireCurrentRevision(request.query);
  return { account, container: route.container, blob: route.blob, ...deletedVersionIn(request) };
}

/** The address of the requested blob, snapshot or version. */
export function revisionAddressOf({ account, route, request }: BlobCall): BlobRevisionAddress {
  const revision = revisionOf(request.query);
  const { container, blob } = route;
  return { account, container, blob, revision, ...deletedVersionIn(request) };
}

/** The parameters that every update of a container takes. */
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

/** Whether an export reads an archived blob. */
export function readsArchived({ request }: BlobCall): boolean {
  return request.query.get("lazuli-archived") === "true";
}

/** The parameters that most reads of a blob take. Some prefix the names of the conditions. */
export function blobReadOf(call: BlobCall, prefix = ""): BlobRead {
  const { headers } = call.request;
  return {
    at: revisionAddressOf(call),
    access: call.access,
    leaseId: leaseIdOf(headers),
    conditions: blobConditionsOf(headers, prefix),
    withArchived: readsArchived(call),
  };
}

/** The parameters that most writes of a blob take. */
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
