import type { Stamp } from "../../base/stamp.ts";
import type { Access } from "../../rules/access.ts";
import type { BlobConditions, Conditions } from "../../rules/conditions.ts";
import type { Tags } from "../../rules/tags.ts";
import type { Tier } from "../../rules/tier.ts";
import type { Contents } from "../../store/contents.ts";
import type { Store } from "../../store/store.ts";

/** What every operation of the Blob service works with. */
export interface BlobContext {
  readonly store: Store;
  readonly contents: Contents;
  settingsOf(account: string): BlobSettings;
}

/** What the configuration says of the blobs of an account. */
export interface BlobSettings {
  /** Whether a blob that is replaced or deleted stays as a previous version. */
  readonly versioning: boolean;
  /** How long deleted containers can be restored; null if not at all. */
  readonly containerRetentionDays: number | null;
}

export const DEFAULT_BLOB_SETTINGS: BlobSettings = {
  versioning: false,
  containerRetentionDays: null,
};

export interface ContainerAddress {
  readonly account: string;
  readonly container: string;
}

/** The current blob of a name: only that can be written. */
export interface BlobAddress extends ContainerAddress {
  readonly blob: string;
}

export interface BlobRevisionAddress extends BlobAddress {
  /** Null for the current blob. */
  readonly revision: BlobRevision | null;
}

/** One of the revisions of a blob that can be read beside the current one, by its id. */
export interface BlobRevision {
  readonly kind: "snapshot" | "version";
  readonly stamp: Stamp;
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

/** What writes a blob. */
export interface BlobUse extends BlobAsked {
  readonly conditions: BlobConditions;
  readonly leaseId: string | null;
}

/** What creates a blob or replaces one. */
export interface BlobCreation extends BlobUse {
  readonly tags: Tags;
  /** Of what is made from a source: whether it has that one's tags. */
  readonly copiesTags?: boolean;
  /** Null for that of the account. */
  readonly tier: Tier | null;
}

/** What reads a blob, or one of its other revisions. A lease id is checked where it is sent. */
export interface BlobRead extends BlobUse {
  readonly at: BlobRevisionAddress;
}
