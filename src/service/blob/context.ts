import type { Access } from "../../rules/access.ts";
import type { Conditions } from "../../rules/conditions.ts";
import type { Contents } from "../../store/contents.ts";
import type { Store } from "../../store/store.ts";

/** What every operation of the Blob service works with. */
export interface BlobContext {
  readonly store: Store;
  readonly contents: Contents;
}

export interface ContainerAddress {
  readonly account: string;
  readonly container: string;
}

export interface BlobAddress extends ContainerAddress {
  readonly blob: string;
}

/** Common to whatever is asked of a container. */
export interface ContainerAsked {
  readonly at: ContainerAddress;
  readonly access: Access;
}

/** What is asked of a container that must exist. An id is checked where it is sent. */
export interface ContainerRead extends ContainerAsked {
  readonly leaseId: string | null;
}

export interface ContainerUpdate extends ContainerRead {
  readonly conditions: Conditions;
}

/** Common to whatever is asked of a blob. */
export interface BlobAsked {
  readonly at: BlobAddress;
  readonly access: Access;
}

/** What reads a blob, or updates one that must exist. An id is checked where it is sent. */
export interface BlobUse extends BlobAsked {
  readonly conditions: Conditions;
  readonly leaseId: string | null;
}
