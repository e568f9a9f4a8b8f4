import type { Body } from "../base/bytes.ts";
import type { Need } from "./acceleration.ts";
import type { Content, ContentKey, Reading, Taken } from "./content.ts";
import type { RangeMaps } from "./range-map.ts";
import type { Transaction, View } from "./store.ts";

/** Bodies up to this size are stored inside a record: one durable write instead of two. */
export const INLINE_BYTES_MAX = 16 * 1024;

/**
 * Contents are the byte sequences that blobs, blocks and files are made of. A content is a *leaf*
 * (bytes inside its record, or addresses in extents), a *list* of parts of leaves (or of lists of
 * leaves), or a *map* (see `range-map.ts`). Only a map can be changed.
 *
 * Contents are reference-counted. `keep` and `compose` create one with one reference, `share` adds
 * one, `drop` removes one. `replace` and `recompose` reuse the id of a content that has no other.
 */
export interface Contents {
  readonly maps: RangeMaps;
  /**
   * Takes a body in one pass. Bytes beyond the inline limit are durable when it resolves. With a
   * key, all bytes are stored encrypted, in extents. The digests are those of the body as it came.
   */
  take(body: Body, digests: Digests, key?: ContentKey | null): Promise<Taken>;
  /** Makes a new leaf of taken bytes, with one reference. */
  keep(tx: Transaction, taken: Taken): Content;
  /**
   * Drops a content and keeps taken bytes. If the content was a leaf with no other reference, the
   * new one gets its id, so that records that name it need no change unless kind or length differ.
   */
  replace(tx: Transaction, content: Content, taken: Taken): Content;
  /** Makes a new list of these parts. It takes over one reference to each part's content. */
  compose(tx: Transaction, parts: readonly Part[]): Content;
  /**
   * Drops a content and composes a list. `shared` names the contents to which the caller has no
   * reference for the list to take over, once per missing reference. Those that were parts of the
   * old content pass on its references. As in `replace`, a short list with no other reference keeps
   * its id. `replaced` are all parts of the old content, for a caller that has just read them.
   */
  recompose(
    tx: Transaction,
    content: Content,
    parts: readonly Part[],
    shared: readonly Content[],
    replaced?: readonly Part[],
  ): Content;
  /**
   * Writes a list with too many parts for one transaction. Each transaction first calls
   * `partsExist`; if that returns false, the result is null. A draft adds references to all parts.
   */
  draft(parts: readonly Part[], partsExist: (view: View) => boolean): Promise<Draft | null>;
  /**
   * Makes a leaf or list of these bytes of another content without copying them, with one
   * reference. Returns null, and writes nothing, if copying is cheaper: the bytes lie in a map, or
   * in very many pieces.
   */
  slice(tx: Transaction, content: Content, from: number, length: number): Content | null;
  /** Adds a reference. */
  share(tx: Transaction, content: Content): void;
  /** Removes a reference; with the last one the content becomes garbage for the sweeper. */
  drop(tx: Transaction, content: Content): void;
  /** What `share` reads, to be named with `prefetch` by a body that shares many contents. */
  needsToShare(content: Content): readonly Need[];
  /** What `drop` reads first, for a body that prefetches more than this. */
  needsToDrop(content: Content): readonly Need[];
  /** Prefetches what `drop` reads, for a body that drops many contents. */
  prefetchDrops(tx: Transaction, contents: () => readonly Content[]): void;
  /** The parts of a list, without the first `skip`; a leaf has none. */
  partsOf(view: View, content: Content, skip: number, limit: number): Part[];
  /**
   * Opens bytes for reading, in the transaction that found the content. They stay readable until
   * `close`, even if the content is dropped. A reading of a map that is not `isStable` may show
   * later writes. Sealed bytes are decrypted with the key, or read as they are stored without one.
   */
  open(
    view: View,
    content: Content,
    from: number,
    length: number,
    key?: ContentKey | null,
  ): Reading;
  /** Runs one round of sweeping and compaction; returns true while there may be more to do. */
  sweep(): Promise<boolean>;
}

/** A piece of a list: bytes of a leaf or list, with the name of the block, if it is one. */
export interface Part {
  readonly content: Content;
  readonly from: number;
  readonly length: number;
  readonly name: string;
}

/** A list that no record names yet. After `release`, the sweeper frees it unless it is adopted. */
export interface Draft {
  /** Makes the draft a content, with one reference. */
  adopt(tx: Transaction): Content;
  release(): void;
}

/** Which digests `take` computes. */
export interface Digests {
  readonly md5: boolean;
  readonly crc64: boolean;
}
