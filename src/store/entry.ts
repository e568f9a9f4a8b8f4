import type { Bytes } from "../base/bytes.ts";

/** A record. As with `get`, its bytes must not be modified, and later writes do not change them. */
export interface Entry {
  readonly key: Bytes;
  readonly value: Bytes;
}

/** How a range of records is read. */
export interface RangeOptions {
  readonly limit: number;
  /** The range ends with the entry that brings keys and values to this size. Default: no limit. */
  readonly bytesMax?: number;
  readonly reverse?: boolean;
  /** Skips damaged records instead of failing. For lists only: the engine reports each of them. */
  readonly skipsDamaged?: boolean;
}
