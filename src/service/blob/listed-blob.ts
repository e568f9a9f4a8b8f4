import type { Bytes } from "../../base/bytes.ts";
import type { Instant } from "../../base/clock.ts";
import type { Stamp } from "../../base/stamp.ts";
import { type LeaseStatus, leaseStatus } from "../../rules/lease.ts";
import { type TierStatus, tierStatus } from "../../rules/tier.ts";
import type { ContainerAsked } from "./context.ts";
import type { ListedKinds, ListedRevision } from "./listed-revisions.ts";
import type { Blob } from "./records.ts";

export interface ListBlobs extends ContainerAsked {
  readonly prefix: string;
  /** Names that are equal up to the delimiter (after the prefix) are one result; "" for none. */
  readonly delimiter: string;
  /** The first name to list. */
  readonly startFrom: string;
  /** The first name not to list; "" for no end. */
  readonly endBefore: string;
  /** Where the previous request's list ended. */
  readonly after: ListPosition | null;
  readonly resultsMax: number;
  readonly kinds: ListedKinds;
  /** Whether the caller needs the tags, which takes permission to read them. */
  readonly tags: boolean;
}

/**
 * A position after a name, after all names with a prefix, or after one revision of a name. It stays
 * valid when blobs change.
 */
export type ListPosition =
  | { readonly behind: "name" | "prefix"; readonly text: string }
  | { readonly behind: "revision"; readonly text: string; readonly stamp: Stamp };

/** A part of the list, in order. */
export interface ListedPage {
  readonly items: readonly ListedItem[];
  /** Where the list continues after these items; null if it is complete. */
  readonly next: ListPosition | null;
}

export type ListedItem = ListedPrefix | ListedBlob;

/** All names with a prefix. In a hierarchical container, that is a directory. */
export interface ListedPrefix {
  readonly kind: "prefix";
  readonly name: string;
  /** Null in a flat container. */
  readonly blob: ListedBlob | null;
}

/** A revision of a blob with its lease and tier at the time of the list. */
export interface ShownBlob extends Omit<ListedRevision, "entry" | "stamp" | "node"> {
  /** Null unless it is a current blob. */
  readonly lease: LeaseStatus | null;
  /** Null unless it is a block blob. */
  readonly tier: TierStatus | null;
  /** Which of the deleted files and directories of this name; null unless it is one. */
  readonly deletionId: Stamp | null;
}

/** A blob in a list. Usually only its rendered text is needed, which an earlier list has cached. */
export class ListedBlob {
  readonly kind = "blob";
  readonly name: string;
  readonly #found: ListedRevision;
  readonly #nowMs: Instant;

  /** `name` is the whole path of a blob in a hierarchical container. */
  constructor(found: ListedRevision, nowMs: Instant, name = found.name) {
    this.name = name;
    this.#found = found;
    this.#nowMs = nowMs;
  }

  get stamp(): Stamp {
    return this.#found.stamp;
  }

  shown(): ShownBlob {
    const { blob, revision, deleted, hasVersionsOnly, stamp } = this.#found;
    const isLeased = blob !== null && revision === null && deleted === null;
    const lease = isLeased ? leaseStatus(blob.lease, this.#nowMs) : null;
    const tier = blob?.type === "BlockBlob" ? tierStatus(blob.tier, this.#nowMs) : null;
    const isDeletedPath = deleted !== null && revision === null && blob?.path != null;
    const deletionId = isDeletedPath ? stamp : null;
    return {
      name: this.name,
      blob,
      revision,
      deleted,
      hasVersionsOnly,
      lease,
      tier,
      deletionId,
    };
  }

  /** What `render` returns for it. `render` must be pure: its output is cached. */
  text(render: (shown: ShownBlob) => string): Bytes {
    // The path of an entry in a directory changes with the names of the directories above.
    const entry = this.name === this.#found.name ? this.#found.entry : null;
    const cached = entry?.textIn(render) ?? null;
    if (cached !== null) return cached;
    const shown = this.shown();
    const text = Buffer.from(render(shown), "utf8");
    const mayCache = entry !== null && shown.blob !== null && isLasting(shown.blob);
    return mayCache ? entry.cacheText(render, text) : text;
  }
}

/** Whether its text does not depend on the time. Leases and rehydrations end. */
function isLasting({ lease, tier }: Blob): boolean {
  return lease === null && (tier === null || tier.rehydration === null);
}
