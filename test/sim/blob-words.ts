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
  | (Guards & { readonly operation: "set-metadata"; readonly write: string })
  | (Guards & {
      readonly operation: "append";
      readonly piece: Piece;
      /** Where it has to begin, if that matters. */
      readonly position: number | null;
    })
  | (Guards & { readonly operation: "delete" })
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
  /** Of a listing: what it says of each blob that it shows. */
  readonly listed: Readonly<Record<string, Listed>> | null;
}

/** What a read says of a blob besides its bytes. */
export interface Found {
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
  listed: null,
};
