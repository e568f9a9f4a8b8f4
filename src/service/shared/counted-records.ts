import type { Instant } from "../../base/clock.ts";
import type { Space } from "../../base/keys.ts";
import type { Entry } from "../../store/entry.ts";

/** The kinds of records that services count for operators. */
export const COUNTED = [
  "containers",
  "blobs",
  "queues",
  "visibleMessages",
  "hiddenMessages",
  "tables",
  "shares",
  "files",
  "containerLeases",
  "blobLeases",
  "shareLeases",
  "fileLeases",
  "openHandles",
  "rangeLocks",
] as const;

export type Counted = (typeof COUNTED)[number];

/** What a scan has counted so far. */
export interface Tally {
  add(counted: Counted): void;
  /** Notes when a message was put: the earliest one is remembered. */
  noteMessage(insertedMs: Instant): void;
}

/** How a service counts the records of one space, for a scan over all of them. */
export interface CountedRecords {
  readonly space: Space;
  /** The id by which the keys of other records refer to this one. */
  idOf?(entry: Entry): bigint | null;
  /**
   * The space of the records whose id each key begins with. A record whose parent is gone does not
   * count: the sweeper will remove it. The parent's space comes before this one in the scan.
   */
  readonly parent?: Space;
  /**
   * Whether its records hold others of the same space, which are then counted with them. `idOf` is
   * null for a record that holds none.
   */
  readonly nests?: boolean;
  count(entry: Entry, now: Instant, tally: Tally): void;
}
