import type { LeaseAsked, LeaseState } from "./lease-model.ts";
import type { Piece } from "./pieces.ts";

/** What a client may send along. ETags stand as the server spelled them, or `*`. */
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
 * An operation on a blob. Whatever sets the blob's metadata puts its own name there (`write`), so that
 * every read tells which write it saw. What is appended is told by its length.
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
      /** Where it has to begin, if that matters. */
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
  /** Of the whole container. */
  | { readonly operation: "list" }
  | LeaseAsked
  /** The clock is turned by the test, which makes time an operation like any other. */
  | { readonly operation: "turn"; readonly byMs: number };

export type PutPageAsked = Guards & {
  readonly operation: "put-page";
  /** Which one. */
  readonly page: number;
  /** `ZERO_PAGE` to clear it. */
  readonly piece: Piece;
  /** What clears a page has no piece of its own to be known by. */
  readonly name: string;
  readonly sequence: { readonly is: "le" | "lt" | "eq"; readonly number: number } | null;
};

export type SetSequenceAsked = Guards & {
  readonly operation: "set-sequence";
  readonly name: string;
  readonly action: "max" | "update" | "increment";
  /** Of no meaning where it is incremented. */
  readonly number: number;
};

/** Makes the blob of one of its snapshots: a copy whose source and target are one object. */
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

/** What a client is told; null is what the operation does not tell. */
export interface BlobDone {
  readonly refused: null;
  readonly etag: string | null;
  readonly modifiedMs: number | null;
  readonly found: Found | null;
  readonly pieces: readonly Piece[] | null;
  /** Where a block was appended. */
  readonly offset: number | null;
  readonly leaseId: string | null;
  readonly secondsLeft: number | null;
  /** By which a snapshot is found. */
  readonly snapshot: string | null;
  /** Of a page blob. */
  readonly sequence: number | null;
  /** Of a listing: what it says of each blob that it shows. */
  readonly listed: Readonly<Record<string, Listed>> | null;
}

export type BlobType = "block" | "append" | "page";

/** What a read says of a blob besides its bytes. */
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

export const NOTHING_TOLD: BlobDone = {
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
