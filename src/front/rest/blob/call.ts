import type { Access } from "../../../rules/access.ts";
import type { BlobContext, ContainerUpdate } from "../../../service/blob/context.ts";
import type { RestRequest, RestResponse } from "../http/exchange.ts";
import { conditionsOf, leaseIdOf } from "../request-headers.ts";

/** One call of a Blob operation: the request, and what routing and authentication made of it. */
export interface BlobCall {
  readonly request: RestRequest;
  readonly account: string;
  /** Decoded; "" where the operation has none. */
  readonly container: string;
  readonly blob: string;
  readonly access: Access;
  /** `x-ms-version` of the request, or the newest we know. */
  readonly version: string;
  /** The URL of the account as the client reached it, with a slash at its end. */
  readonly endpoint: string;
  /** Response headers that a SAS replaces on reads (`rscc`, `rsct`, …): names and values in turn. */
  readonly overrides: readonly string[];
}

export type BlobHandler = (context: BlobContext, call: BlobCall) => Promise<RestResponse>;

/** What every update of a container may carry. */
export function containerUpdateOf(call: BlobCall): ContainerUpdate {
  const { headers } = call.request;
  return {
    at: call,
    access: call.access,
    leaseId: leaseIdOf(headers),
    conditions: conditionsOf(headers),
  };
}
