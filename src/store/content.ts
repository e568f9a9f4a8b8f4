import type { BufferOwner } from "../base/borrowed-buffer.ts";
import type { Bytes } from "../base/bytes.ts";

/** How a record refers to a content. */
export interface Content {
  readonly id: bigint;
  /** "sealed": like "extent", but encrypted with a key that clients send. */
  readonly kind: "inline" | "extent" | "list" | "map" | "sealed";
  readonly length: number;
}

/** A key of AES-256 that clients send with each request. It is never stored. */
export type ContentKey = Bytes;

/** Bytes that have arrived but belong to no content yet. Call `release` in the end, kept or not. */
export interface Taken {
  readonly length: number;
  readonly md5: Bytes | null;
  readonly crc64: Bytes | null;
  /** The bytes themselves, if they are to be stored in a record: few, and not sealed. */
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
