import type { Bytes } from "../../base/bytes.ts";
import { HANDLE_CACHING, READ_CACHING, WRITE_CACHING } from "../../rules/caching.ts";

/** What a client asks to keep with CREATE, and is told that it may. */
export const OPLOCK = { none: 0, level2: 1, exclusive: 8, batch: 9, lease: 0xff } as const;

const KEPT = new Map<number, number>([
  [OPLOCK.none, 0],
  [OPLOCK.level2, READ_CACHING],
  [OPLOCK.exclusive, READ_CACHING | WRITE_CACHING],
  [OPLOCK.batch, READ_CACHING | WRITE_CACHING | HANDLE_CACHING],
]);

/** What an oplock of this level lets a client keep; null if there is no such level. */
export function keptByOplock(level: number): number | null {
  return KEPT.get(level) ?? null;
}

export function oplockLevelOf(state: number): number {
  for (const [level, kept] of KEPT) if (kept === state) return level;
  return OPLOCK.none;
}

const GUID_BYTES = 16;

/** A lease belongs to a client, and to all of its connections. */
export function leaseOwner(clientGuid: Bytes, key: Bytes): Bytes {
  return Buffer.concat([clientGuid, key]);
}

export function leaseKeyOf(owner: Bytes): Bytes {
  return owner.subarray(GUID_BYTES);
}
