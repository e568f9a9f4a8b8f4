import { createHash } from "node:crypto";
import { type Bytes, NO_BYTES } from "../../base/bytes.ts";

/**
 * The longest part of a key that the index contains. PostgreSQL's B-tree takes rows of up to 2,704
 * bytes, and this one has a digest beside the head.
 */
export const HEAD_BYTES_MAX = 2_560;

/**
 * A key as the table stores it. Head and digest are unique together and indexed; the order of keys
 * is that of head and rest. A key that is no longer than a head has neither rest nor digest.
 */
export interface SplitKey {
  readonly head: Bytes;
  /** SHA-256 of the rest. */
  readonly digest: Bytes;
  readonly rest: Bytes;
}

export function splitKey(key: Bytes): SplitKey {
  if (key.length <= HEAD_BYTES_MAX) return { head: key, digest: NO_BYTES, rest: NO_BYTES };
  const rest = key.subarray(HEAD_BYTES_MAX);
  const digest = createHash("sha256").update(rest).digest();
  return { head: key.subarray(0, HEAD_BYTES_MAX), digest, rest };
}

export function joinKey(head: Bytes, rest: Bytes): Bytes {
  return rest.length === 0 ? head : Buffer.concat([head, rest]);
}
