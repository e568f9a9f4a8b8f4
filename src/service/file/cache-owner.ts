import type { Bytes } from "../../base/bytes.ts";

/** The owner of a cache: the number of the handle (oplock), or client and lease key (lease). */
export type CacheOwner = Bytes;

export const NO_OWNER: CacheOwner = Buffer.alloc(0);

/** The owner of an oplock: a handle has at most one. */
export function ownerOfHandle(handle: bigint): CacheOwner {
  const owner = Buffer.alloc(8);
  owner.writeBigUInt64BE(handle);
  return owner;
}
