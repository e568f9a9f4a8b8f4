import type { Content, Reading, Taken } from "./contents.ts";
import type { Transaction, View } from "./store.ts";

/**
 * Maps: contents of kind "map", of any length, whose bytes can be written at any offset. What was
 * never written reads as zeroes and takes no space. Like every content a map is shared and dropped
 * by `Contents`, and opened there; a map that is shared is copied on the next write, which costs
 * nothing but the write. Whatever changes a map returns the map that its owner must store from now
 * on, in the same transaction.
 */
export interface RangeMaps {
  /**
   * `first` is what it begins with; zeroes follow up to the length. The reference to a map that is
   * replaced is dropped.
   */
  create(tx: Transaction, length: number, first?: Taken | null, replaced?: Content | null): Content;
  /** Puts bytes at an offset; a map that ends before them grows. */
  write(tx: Transaction, map: Content, at: number, taken: Taken): Content;
  /** Puts bytes behind the end of a map that was never cut: nothing is there that they replace. */
  append(tx: Transaction, map: Content, taken: Taken): Content;
  /**
   * Puts bytes of another content at an offset without copying them; where they are zeroes that
   * nobody wrote, there are such zeroes then. Null, and nothing is written, if they lie in so many
   * pieces that copying is the better way.
   */
  place(
    tx: Transaction,
    map: Content,
    at: number,
    content: Content,
    from: number,
    length: number,
  ): Content | null;
  /** Makes zeroes of the bytes from `from` to `until`. */
  clear(tx: Transaction, map: Content, from: number, until: number): Content;
  /** What is cut off is gone: if the map grows again, it reads as zeroes. */
  resize(tx: Transaction, map: Content, length: number): Content;
  /** What is written between `from` and `until`, as far as a body of bounded work finds it. */
  ranges(view: View, map: Content, from: number, until: number, limit: number): Ranges;
  /**
   * What was written or cleared since `since` was shared with this map; null if it was not, or not
   * as a state of this map.
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
   * Opens bytes that others may overwrite while they are read, however many pieces they are made
   * of: from now on this map is written on top of what the reading sees.
   */
  openFrozen(
    tx: Transaction,
    map: Content,
    from: number,
    length: number,
  ): { readonly map: Content; readonly reading: Reading };
}

export interface Ranges {
  /** In their order; neighbours of one kind are one range, unless the end of a page parts them. */
  readonly found: readonly Range[];
  /** Where to go on; null if that was all. */
  readonly next: number | null;
}

export interface Range {
  readonly start: number;
  readonly end: number;
  /** Cleared ranges are told of changes only. */
  readonly isCleared: boolean;
}
