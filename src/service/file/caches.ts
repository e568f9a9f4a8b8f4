import type { Bytes } from "../../base/bytes.ts";
import { Fault } from "../../base/fault.ts";
import {
  type beginBreak,
  type CachingKind,
  grantCaching,
  type Intrusion,
  isSpared,
  NO_CACHING,
  needsBreak,
  upgradeCaching,
} from "../../rules/caching.ts";
import type { Open } from "../../rules/share-mode.ts";
import type { Transaction, View } from "../../store/store.ts";
import { CacheBreakNeeded } from "./cache-break-needed.ts";
import { type CacheOwner, ownerOfHandle } from "./cache-owner.ts";
import {
  type Cache,
  deleteCache,
  deleteLeased,
  readCache,
  readCaches,
  readLeased,
  writeCache,
  writeLeased,
} from "./cache-records.ts";
import type { HandleId, OpenItem, Opens } from "./open-records.ts";

/** The caching that a client asks for when it opens a file. */
export type CachingAsked =
  | { readonly kind: "oplock"; readonly wanted: number }
  | {
      readonly kind: "lease";
      /** Client and lease key. */
      readonly owner: CacheOwner;
      readonly wanted: number;
      readonly isVersioned: boolean;
      /** The client's count of changes. */
      readonly epoch: number;
    };

/** The caching that was granted. */
export interface CachingGranted {
  readonly kind: CachingKind;
  readonly owner: CacheOwner;
  readonly state: number;
  /** Whether the first open of the lease sent an epoch. */
  readonly isVersioned: boolean;
  readonly epoch: number;
  readonly isBreaking: boolean;
}

/**
 * Throws `CacheBreakNeeded` if clients must give up caching before the operation goes on. The body
 * runs again once they have. `own` is the owner whose cache does not conflict.
 */
export function requireCachesBroken(
  view: View,
  item: OpenItem,
  opens: Opens,
  own: CacheOwner,
  intrusion: Intrusion,
): void {
  if (opens.caches === 0) return;
  if (cachesToBreak(view, item, opens, own, intrusion).length > 0) {
    throw new CacheBreakNeeded(item, own, intrusion);
  }
}

export function cachesToBreak(
  view: View,
  item: OpenItem,
  { caches }: Opens,
  own: CacheOwner,
  intrusion: Intrusion,
): Cache[] {
  return readCaches(view, item, caches).filter(({ owner, caching }) => {
    if (owner.equals(own) && isSpared(caching, intrusion)) return false;
    return needsBreak(caching, intrusion);
  });
}

/** Checks that a lease key is used for one file only. */
export function requireOwnLease(
  view: View,
  share: bigint,
  id: bigint | null,
  asked: CachingAsked | null,
): void {
  if (asked?.kind !== "lease") return;
  const leased = readLeased(view, share, asked.owner);
  if (leased !== null && leased.id !== id) {
    throw new Fault("InvalidInput", { Reason: "This lease key belongs to another file." });
  }
}

export interface Opening {
  readonly item: OpenItem;
  /** Without the handle that is being opened. */
  readonly opens: Opens | null;
  readonly handle: HandleId;
  readonly mode: Open;
}

/** Decides and records the caching that the client gets. Null if it asked for none. */
export function addCache(
  tx: Transaction,
  { item, opens, handle, mode }: Opening,
  asked: CachingAsked | null,
): { readonly granted: CachingGranted | null; readonly caches: number } {
  const before = opens?.caches ?? 0;
  if (asked === null) return { granted: null, caches: before };
  const owner = asked.kind === "lease" ? asked.owner : ownerOfHandle(handle);
  const all = before === 0 ? [] : readCaches(tx, item, before);
  const old = all.find((one) => one.owner.equals(owner)) ?? null;
  const others = all.filter((one) => one !== old);
  const users = opens?.modes.reduce((sum, one) => sum + (one.access === 0 ? 0 : one.handles), 0);
  const granted = grantCaching(asked.kind, asked.wanted, {
    areThere: (users ?? 0) > (old?.users ?? 0),
    cachings: others.map(({ caching }) => caching),
    hasLocks: (opens?.locks ?? 0) > 0,
  });
  if (old === null && asked.kind === "oplock" && granted === NO_CACHING) {
    return { granted: null, caches: before };
  }
  const cache = cacheWith(owner, asked, old, granted, mode);
  writeCache(tx, item, cache);
  if (old === null && asked.kind === "lease") writeLeased(tx, item, owner);
  return { granted: grantedBy(cache), caches: old === null ? before + 1 : before };
}

function cacheWith(
  owner: CacheOwner,
  asked: CachingAsked,
  old: Cache | null,
  granted: number,
  { access }: Open,
): Cache {
  const handles = (old?.handles ?? 0) + 1;
  const users = (old?.users ?? 0) + (access === 0 ? 0 : 1);
  const { kind } = asked;
  if (old === null) {
    const isVersioned = asked.kind === "lease" && asked.isVersioned;
    const epoch = asked.kind === "lease" && isVersioned ? (asked.epoch + 1) % 65_536 : 0;
    const caching = { kind, state: granted, breaking: null };
    return { owner, caching, isVersioned, epoch, handles, users };
  }
  const { caching, isVersioned } = old;
  const state = upgradeCaching(caching, asked.wanted, granted);
  const epoch = state === caching.state ? old.epoch : nextEpoch(old);
  const upgraded = { kind, state, breaking: caching.breaking };
  return { owner, caching: upgraded, isVersioned, epoch, handles, users };
}

function nextEpoch({ epoch, isVersioned }: Cache): number {
  return isVersioned ? (epoch + 1) % 65_536 : epoch;
}

export function grantedBy({ owner, caching, isVersioned, epoch }: Cache): CachingGranted {
  const { kind, state, breaking } = caching;
  return { kind, owner, state, isVersioned, epoch, isBreaking: breaking !== null };
}

/**
 * Removes a closed handle from its cache, and the cache with its last handle. Returns how many
 * caches were removed.
 */
export function dropCache(
  tx: Transaction,
  item: OpenItem,
  owner: CacheOwner,
  { access }: Open,
): number {
  const cache = owner.length === 0 ? null : readCache(tx, item, owner);
  if (cache === null) return 0;
  if (cache.handles > 1) {
    const { caching, isVersioned, epoch, handles } = cache;
    const users = cache.users - (access === 0 ? 0 : 1);
    writeCache(tx, item, { owner, caching, isVersioned, epoch, handles: handles - 1, users });
    return 0;
  }
  deleteCache(tx, item, owner);
  if (cache.caching.kind === "lease") deleteLeased(tx, item.share, owner);
  return 1;
}

/** A break to send to a client: its caching now, and the caching it may retain. */
export interface BreakNotice {
  readonly item: OpenItem;
  readonly kind: CachingKind;
  readonly owner: Bytes;
  readonly from: number;
  readonly to: number;
  readonly mustAnswer: boolean;
  readonly epoch: number;
  /** Of a break that was begun before: its client was told, unless the notice was lost. */
  readonly isRepeat: boolean;
}

/** Records a step of a break. Returns the notice to send to the client; null if there is none. */
export function writeStep(
  tx: Transaction,
  item: OpenItem,
  cache: Cache,
  step: ReturnType<typeof beginBreak>,
): BreakNotice | null {
  const { owner, isVersioned, handles, users } = cache;
  const { caching, notice } = step;
  // Nothing new: those who wait for the break would be woken up in vain.
  if (notice === null && caching === cache.caching) return null;
  // To the client, the next step of a break is part of the same change.
  const goesOn = cache.caching.breaking !== null;
  const epoch = notice === null || goesOn ? cache.epoch : nextEpoch(cache);
  writeCache(tx, item, { owner, caching, isVersioned, epoch, handles, users });
  if (notice === null) return null;
  const { from, to, mustAnswer } = notice;
  return { item, kind: caching.kind, owner, from, to, mustAnswer, epoch, isRepeat: false };
}
