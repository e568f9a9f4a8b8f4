import type { BufferOwner } from "../base/borrowed-buffer.ts";
import type { Bytes } from "../base/bytes.ts";

/** How a record refers to a content. */
export interface Content {
  readonly id: bigint;
  readonly kind: "inline" | "extent" | "list" | "map";
  readonly length: number;
}

/** Bytes that have arrived but belong to no content yet. Call `release` in the end, kept or not. */
export interface Taken {
  readonly length: number;
  readonly md5: Bytes | null;
  readonly crc64: Bytes | null;
  /** The bytes themselves, if they are few enough to be stored in a record. */
  readonly inline: Bytes | null;
  release(): void;
}

/** Bytes of a content, opened for reading. They can be borrowed once, from first to last. */
export interface Reading extends BufferOwner {
  readonly length: number;
  /** All of the bytes, if they were in memory when the reading was opened. */
  readonly whole: Bytes | null;
  /** Whether the reading shows no write to a map that is committed after it was opened. */
  readonly isStable: boolean;
  /** Whether both have the same bytes in the same places; false if a lookup took several steps. */
  isSameAs(other: Reading): boolean;
  close(): void;
}
