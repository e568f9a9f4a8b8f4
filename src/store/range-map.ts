import type { Need } from "./acceleration.ts";
import type { Content, ContentKey, Reading, Taken } from "./content.ts";
import type { Transaction, View } from "./store.ts";

/**
 * Maps: contents of kind "map", whose bytes can be written at any offset. Bytes that were never
 * written read as zeroes and take no space. `Contents` shares, drops and opens maps like any
 * content. Writes to a shared map are copy-on-write, at no extra cost. Each method that changes a
 * map returns the content that the caller must store in its place, in the same transaction.
 */
export interface RangeMaps {
  /**
   * Makes a map that begins with the bytes of `first`, followed by zeroes up to `length`. Drops the
   * reference to `replaced`.
   */
  create(tx: Transaction, length: number, first?: Taken | null, replaced?: Content | null): Content;
  /** Writes bytes at an offset; a map that ends before their end grows. */
  write(tx: Transaction, map: Content, at: number, taken: Taken): Content;
  /** Writes bytes at the end of a map that was never truncated, so that they replace nothing. */
  append(tx: Transaction, map: Content, taken: Taken): Content;
  /** What a body reads to place these contents one after another at the end of a map. */
  needsToPlace(map: Content, contents: readonly Content[]): readonly Need[];
  /**
   * Writes bytes of another content at an offset without copying them. Its holes become holes.
   * Returns null, and writes nothing, if the bytes lie in so many pieces that copying is cheaper.
   */
  place(
    tx: Transaction,
    map: Content,
    at: number,
    content: Content,
    from: number,
    length: number,
  ): Content | null;
  /** Makes the bytes from `from` to `until` read as zeroes. */
  clear(tx: Transaction, map: Content, from: number, until: number): Content;
  /** Truncates or extends a map. Bytes that are cut off read as zeroes if the map grows again. */
  resize(tx: Transaction, map: Content, length: number): Content;
  /** Lists written ranges between `from` and `until`. One call does a bounded amount of work. */
  ranges(view: View, map: Content, from: number, until: number, limit: number): Ranges;
  /**
   * Lists what was written or cleared after `since` was shared from this map; null if `since` is
   * not an earlier state of this map.
   */
  changes(
    view: View,
    map: Content,
    since: Content,
    from: number,
    until: number,
    limit: number,
  ): Ranges | null;
  /**
   * Opens bytes as they are now, however many pieces they consist of: later writes to the returned
   * map go to a new layer, which the reading does not see.
   */
  openFrozen(
    tx: Transaction,
    map: Content,
    from: number,
    length: number,
    key?: ContentKey | null,
  ): { readonly map: Content; readonly reading: Reading };
}

/** One page of a list of ranges. */
export interface Ranges {
  /** In ascending order; neighbours of one kind are merged within a page. */
  readonly found: readonly Range[];
  /** The offset at which the next page begins; null after the last page. */
  readonly next: number | null;
}

export interface Range {
  readonly start: number;
  readonly end: number;
  /** Only `changes` lists cleared ranges. */
  readonly isCleared: boolean;
}
