import type { Stamp } from "../../base/stamp.ts";
import type { Access } from "../../rules/access.ts";
import type { BlobConditions, Conditions } from "../../rules/conditions.ts";
import type { CustomerKey } from "../../rules/encryption.ts";
import type { PathKind } from "../../rules/rename.ts";
import type { Tags } from "../../rules/tags.ts";
import type { Tier } from "../../rules/tier.ts";
import type { Contents } from "../../store/contents.ts";
import type { Store } from "../../store/store.ts";

/** How a request wants a blob encrypted, or knows it to be. */
export interface AskedEncryption {
  readonly key?: CustomerKey | null;
}

/** The dependencies of every operation of the Blob service. */
export interface BlobContext {
  readonly store: Store;
  readonly contents: Contents;
  /** Accounts that are not listed have the defaults. A reload replaces the whole context. */
  readonly settingsByAccount: ReadonlyMap<string, BlobSettings>;
}

/** An account's configured settings for blobs. */
export interface BlobSettings {
  /** Whether a replaced or deleted blob stays as a previous version. */
  readonly versioning: boolean;
  /** How long deleted containers can be restored; null if they cannot. */
  readonly containerRetentionDays: number | null;
  /** Whether new containers have directories. If not given, those of Data Lake clients have. */
  readonly hierarchicalNamespace?: boolean | null;
}

export const DEFAULT_BLOB_SETTINGS: BlobSettings = {
  versioning: false,
  containerRetentionDays: null,
};

export function settingsOf({ settingsByAccount }: BlobContext, account: string): BlobSettings {
  return settingsByAccount.get(account) ?? DEFAULT_BLOB_SETTINGS;
}

export interface ContainerAddress {
  readonly account: string;
  readonly container: string;
  /** Of a deleted container, which only an export reads. */
  readonly deletedVersion?: Stamp;
}

/** The current blob of a name. Other revisions cannot be written. */
export interface BlobAddress extends ContainerAddress {
  readonly blob: string;
}

export interface BlobRevisionAddress extends BlobAddress {
  /** Null for the current blob. */
  readonly revision: BlobRevision | null;
}

/** A snapshot or version of a blob, identified by its stamp. */
export interface BlobRevision {
  readonly kind: "snapshot" | "version";
  readonly stamp: Stamp;
  /** A soft-deleted one, for exports. `NO_STAMP`: the current blob that was deleted last. */
  readonly isDeleted?: boolean;
}

export const NO_STAMP: Stamp = 0n;

/** Common to all container requests. */
export interface ContainerAsked {
  readonly at: ContainerAddress;
  readonly access: Access;
}

/** A request to a container that must exist. A lease id is checked if one is sent. */
export interface ContainerRead extends ContainerAsked {
  readonly leaseId: string | null;
}

export interface ContainerUpdate extends ContainerRead {
  readonly conditions: Conditions;
}

/** Common to all blob requests. Only some of them take a key; others have none. */
export interface BlobAsked extends AskedEncryption {
  readonly at: BlobAddress;
  readonly access: Access;
}

/** A request that writes a blob. */
export interface BlobUse extends BlobAsked {
  readonly conditions: BlobConditions;
  readonly leaseId: string | null;
}

/** A request that creates or replaces a blob. */
export interface BlobCreation extends BlobUse {
  readonly tags: Tags;
  /** Whether a blob made from a source takes over the source's tags. */
  readonly copiesTags?: boolean;
  /** Null for the account's default tier. */
  readonly tier: Tier | null;
  /** In a hierarchical container, a file replaces no directory and a directory no file. */
  readonly kind?: PathKind;
}

/** A request that reads any revision of a blob. A lease id is checked if one is sent. */
export interface BlobRead extends BlobUse {
  readonly at: BlobRevisionAddress;
  /** Whether an export reads archived bytes, too. */
  readonly withArchived?: boolean;
}
