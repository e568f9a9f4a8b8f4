import type { LeaseAsked, LeaseState } from "./lease-model.ts";
import type { Piece } from "./pieces.ts";

/** Conditions that a client may send. ETags are as the server wrote them, or `*`. */
export interface Guards {
  readonly ifMatch: string | null;
  readonly ifNoneMatch: string | null;
  readonly leaseId: string | null;
}

export interface BlockReference {
  readonly id: string;
  readonly from: "committed" | "uncommitted" | "latest";
}

/**
 * An operation on a blob. An operation that sets the metadata puts its own name there (`write`), so
 * that every read shows which write it saw. Appends are identified by the length.
 */
export type BlobAsked =
  | (Guards & { readonly operation: "put"; readonly write: string; readonly piece: Piece })
  | (Guards & {
      readonly operation: "commit";
      readonly write: string;
      readonly blocks: readonly BlockReference[];
    })
  | (Guards & { readonly operation: "create-append"; readonly write: string })
  /** A page blob of a few pages, all zeroes. */
  | (Guards & { readonly operation: "create-page"; readonly write: string })
  | PutPageAsked
  | SetSequenceAsked
  | (Guards & { readonly operation: "snapshot" })
  | { readonly operation: "get-snapshot"; readonly snapshot: string }
  | CopySnapshotAsked
  | (Guards & { readonly operation: "set-metadata"; readonly write: string })
  | (Guards & {
      readonly operation: "append";
      readonly piece: Piece;
      /** The required position; null for none. */
      readonly position: number | null;
    })
  | (Guards & { readonly operation: "delete"; readonly withSnapshots: boolean })
  | (Guards & { readonly operation: "get" | "head" })
  | {
      readonly operation: "stage";
      readonly block: string;
      readonly piece: Piece;
      readonly leaseId: string | null;
    }
  /** Lists the whole container. */
  | { readonly operation: "list" }
  | LeaseAsked
  /** The test advances the clock, so time is an operation like any other. */
  | { readonly operation: "advance"; readonly byMs: number };

export type PutPageAsked = Guards & {
  readonly operation: "put-page";
  /** The page's number. */
  readonly page: number;
  /** `ZERO_PAGE` to clear it. */
  readonly piece: Piece;
  /** Identifies a write that clears a page, which has no piece of its own. */
  readonly name: string;
  readonly sequence: { readonly is: "le" | "lt" | "eq"; readonly number: number } | null;
};

export type SetSequenceAsked = Guards & {
  readonly operation: "set-sequence";
  readonly name: string;
  readonly action: "max" | "update" | "increment";
  /** Ignored by an increment. */
  readonly number: number;
};

/** Copies a snapshot onto its own blob: source and target are one object. */
export interface CopySnapshotAsked {
  readonly operation: "copy-snapshot";
  readonly write: string;
  readonly snapshot: string;
  readonly leaseId: string | null;
}

export type BlobAnswer = Refused | BlobDone;

export interface Refused {
  /** Status and code: `412 ConditionNotMet`. */
  readonly refused: string;
}

/** The answer to a client; null for parts that the operation does not return. */
export interface BlobDone {
  readonly refused: null;
  readonly etag: string | null;
  readonly modifiedMs: number | null;
  readonly found: Found | null;
  readonly pieces: readonly Piece[] | null;
  /** The offset of an appended block. */
  readonly offset: number | null;
  readonly leaseId: string | null;
  readonly secondsLeft: number | null;
  /** The id of a snapshot. */
  readonly snapshot: string | null;
  /** For a page blob. */
  readonly sequence: number | null;
  /** For a listing: its entry for each blob that it shows. */
  readonly listed: Readonly<Record<string, Listed>> | null;
}

export type BlobType = "block" | "append" | "page";

/** The properties of a blob that was read. */
export interface Found {
  readonly type: BlobType;
  readonly write: string;
  readonly length: number;
  readonly lease: LeaseState;
}

export interface Listed extends Found {
  readonly etag: string;
  readonly modifiedMs: number;
}

export const EMPTY_ANSWER: BlobDone = {
  refused: null,
  etag: null,
  modifiedMs: null,
  found: null,
  pieces: null,
  offset: null,
  leaseId: null,
  secondsLeft: null,
  snapshot: null,
  sequence: null,
  listed: null,
};
