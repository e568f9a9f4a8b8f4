import type { BufferOwner } from "../base/borrowed-buffer.ts";
import type { Body, Bytes } from "../base/bytes.ts";
import type { RangeMaps } from "./range-map.ts";
import type { Transaction, View } from "./store.ts";

/** Bodies up to this size live in their record: one durable step instead of two. */
export const INLINE_BYTES_MAX = 16 * 1024;

/**
 * Contents: what blobs, blocks and files are made of. A content is immutable and counted: it is
 * there from `keep` or `compose` until as many `drop`s as there were `share`s, plus one. Its id may be
 * used again only by who held the last reference (`replace`, `recompose`). A content is a *leaf*
 * (bytes inside its record, or addresses in extents), a *list* of parts of leaves (or of lists of
 * leaves), or a *map* (see `range-map.ts`), which is the only one that can be changed.
 */
export interface Contents {
  readonly maps: RangeMaps;
  /** Takes a body in one pass. Bytes beyond the inline limit are durable when it resolves. */
  take(body: Body, digests: Digests): Promise<Taken>;
  /** Gives taken bytes a name: a new leaf, with one reference. */
  keep(tx: Transaction, taken: Taken): Content;
  /**
   * Drops a content and keeps taken bytes. A leaf to which there was no other reference makes room for
   * them: then its id stays, and so do records that name it, unless kind or length change.
   */
  replace(tx: Transaction, content: Content, taken: Taken): Content;
  /** A new list from these parts, in order. It takes over one reference to each part's content. */
  compose(tx: Transaction, parts: readonly Part[]): Content;
  /**
   * Drops a content and composes a list. To `shared` it has no references yet, each as often as it
   * stands there: they may be parts of the old content, which hands over those it had. A short list
   * to which there was no other reference makes room for the new one, as in `replace`. `replaced` are
   * all parts of the old content, for who has just read them.
   */
  recompose(
    tx: Transaction,
    content: Content,
    parts: readonly Part[],
    shared: readonly Content[],
    replaced?: readonly Part[],
  ): Content;
  /**
   * A list of so many parts that it takes several bodies. Each body first asks whether the parts'
   * contents are still there; null if they are not. A draft has references of its own to all of them.
   */
  draft(parts: readonly Part[], holds: (view: View) => boolean): Promise<Draft | null>;
  /**
   * A leaf or list, with a reference of its own, that shows these bytes of another content without
   * copying them. Null, and nothing is written, where copying is the better way: they lie in a map,
   * or in very many pieces.
   */
  slice(tx: Transaction, content: Content, from: number, length: number): Content | null;
  /** One more reference. */
  share(tx: Transaction, content: Content): void;
  /** One reference less; with the last one the content becomes garbage for the sweeper. */
  drop(tx: Transaction, content: Content): void;
  /** The parts of a list, from the `skip`-th on; a leaf has none. */
  partsOf(view: View, content: Content, skip: number, limit: number): Part[];
  /**
   * Opens bytes for reading, inside the body that found the content. What is opened stays readable
   * until `close`, whatever happens to the content meanwhile; but of a map whose reading is not
   * settled, what others write meanwhile shows.
   */
  open(view: View, content: Content, from: number, length: number): Reading;
  /** One round of freeing and compaction; true while there may be more to do. */
  sweep(): Promise<boolean>;
}

/** How a record refers to a content. */
export interface Content {
  readonly id: bigint;
  readonly kind: "inline" | "extent" | "list" | "map";
  readonly length: number;
}

/** A piece of a list: `length` bytes of a leaf or list, from `from` on, with the block's name if it has one. */
export interface Part {
  readonly content: Content;
  readonly from: number;
  readonly length: number;
  readonly name: string;
}

/** `release` must be called in the end. The sweeper frees what was not adopted by then. */
export interface Draft {
  /** Makes it a content, with one reference. */
  adopt(tx: Transaction): Content;
  release(): void;
}

export interface Digests {
  readonly md5: boolean;
  readonly crc64: boolean;
}

/** Bytes that have arrived but have no name yet. `release` must be called in the end, named or not. */
export interface Taken {
  readonly length: number;
  readonly md5: Bytes | null;
  readonly crc64: Bytes | null;
  /** The bytes themselves, if they are few enough to live in a record. */
  readonly inline: Bytes | null;
  release(): void;
}

/** The bytes are lent once. */
export interface Reading extends BufferOwner {
  readonly length: number;
  /** All of the bytes, where they were at hand at once. */
  readonly whole: Bytes | null;
  /** Whether the bytes stay what they were when it was opened, even if a map is written meanwhile. */
  readonly isStable: boolean;
  /** Whether both find the same bytes in the same places; false if that was not all found out at once. */
  isSameAs(other: Reading): boolean;
  close(): void;
}
