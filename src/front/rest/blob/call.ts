import type { KeyObject } from "node:crypto";
import type { Access } from "../../../rules/access.ts";
import type { ServiceAsked } from "../../../service/account/context.ts";
import type { BlobContext, BlobUse, ContainerUpdate } from "../../../service/blob/context.ts";
import type { Identity } from "../auth/user-delegation-key.ts";
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
  /** With what a user delegation key is made, for who comes with a bearer token. */
  readonly delegation: Delegation | null;
}

export interface Delegation {
  readonly identity: Identity;
  readonly secret: KeyObject;
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

export function blobUseOf(call: BlobCall): BlobUse {
  return { ...containerUpdateOf(call), at: call };
}

export function serviceAskedOf({ account, access }: BlobCall): ServiceAsked {
  return { at: { account, service: "blob" }, access };
}
