import type { Bytes } from "../../base/bytes.ts";
import { HANDLE_CACHING, READ_CACHING, WRITE_CACHING } from "../../rules/caching.ts";

/** Oplock levels that a client asks for, and is granted, in CREATE. */
export const OPLOCK = { none: 0, level2: 1, exclusive: 8, batch: 9, lease: 0xff } as const;

const CACHING: ReadonlyMap<number, number> = new Map([
  [OPLOCK.none, 0],
  [OPLOCK.level2, READ_CACHING],
  [OPLOCK.exclusive, READ_CACHING | WRITE_CACHING],
  [OPLOCK.batch, READ_CACHING | WRITE_CACHING | HANDLE_CACHING],
]);

/** What an oplock of this level lets a client cache; null if there is no such level. */
export function cachingByOplock(level: number): number | null {
  return CACHING.get(level) ?? null;
}

export function oplockLevelOf(state: number): number {
  for (const [level, caching] of CACHING) if (caching === state) return level;
  return OPLOCK.none;
}

const GUID_BYTES = 16;

/** The owner of a lease: a client, with all of its connections. */
export function leaseOwner(clientGuid: Bytes, key: Bytes): Bytes {
  return Buffer.concat([clientGuid, key]);
}

export function leaseKeyOf(owner: Bytes): Bytes {
  return owner.subarray(GUID_BYTES);
}
