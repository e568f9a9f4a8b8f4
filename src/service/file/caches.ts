import type { Bytes } from "../../base/bytes.ts";
import { Fault } from "../../base/fault.ts";
import {
  type beginBreak,
  type CachingKind,
  grantCaching,
  type Intrusion,
  isInTheWay,
  isSpared,
  KEEP_NOTHING,
  upgradeCaching,
} from "../../rules/caching.ts";
import type { Open } from "../../rules/share-mode.ts";
import type { Transaction, View } from "../../store/store.ts";
import {
  type Cache,
  type CacheOwner,
  deleteCache,
  deleteLeased,
  ownerOfHandle,
  readCache,
  readCaches,
  readLeased,
  writeCache,
  writeLeased,
} from "./cache-records.ts";
import { CachesInTheWay } from "./caches-in-the-way.ts";
import type { HandleId, OpenItem, Opens } from "./open-records.ts";

/** What a client that opens a file would like to keep of it. */
export type CachingAsked =
  | { readonly kind: "oplock"; readonly wanted: number }
  | {
      readonly kind: "lease";
      /** Client and key. */
      readonly owner: CacheOwner;
      readonly wanted: number;
      readonly isVersioned: boolean;
      /** Where the client's count of changes stands. */
      readonly epoch: number;
    };

/** What it may keep. */
export interface CachingGranted {
  readonly kind: CachingKind;
  readonly owner: CacheOwner;
  readonly state: number;
  /** Whether the client that asked first knows of epochs. */
  readonly isVersioned: boolean;
  readonly epoch: number;
  readonly isBreaking: boolean;
}

/**
 * Whoever keeps something of a file gives it up before others go on: this is thrown out of the body
 * that found it in its way, which is run again once that is done. `own` is what does not count.
 */
export function giveWay(
  view: View,
  item: OpenItem,
  opens: Opens,
  own: CacheOwner,
  intrusion: Intrusion,
): void {
  if (opens.caches === 0) return;
  if (cachesInTheWay(view, item, opens, own, intrusion).length > 0) {
    throw new CachesInTheWay(item, own, intrusion);
  }
}

export function cachesInTheWay(
  view: View,
  item: OpenItem,
  { caches }: Opens,
  own: CacheOwner,
  intrusion: Intrusion,
): Cache[] {
  return readCaches(view, item, caches).filter(({ owner, caching }) => {
    if (owner.equals(own) && isSpared(caching, intrusion)) return false;
    return isInTheWay(caching, intrusion);
  });
}

/** A lease is of one file. */
export function refuseForeignLease(
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
  /** Without the one that is being opened. */
  readonly opens: Opens | null;
  readonly handle: HandleId;
  readonly mode: Open;
}

/** Decides what the client may keep, and notes it. Null if it asked for nothing. */
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
  if (old === null && asked.kind === "oplock" && granted === KEEP_NOTHING) {
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

/** A handle is closed: what it alone was kept for is forgotten. Returns how many fewer there are. */
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

/** What a client has to be told: what it keeps now, and what of it it may go on keeping. */
export interface BreakNotice {
  readonly item: OpenItem;
  readonly kind: CachingKind;
  readonly owner: Bytes;
  readonly from: number;
  readonly to: number;
  readonly mustAnswer: boolean;
  readonly epoch: number;
}

/** Notes a step of a break, and says what to tell the client; null if nothing. */
export function writeStep(
  tx: Transaction,
  item: OpenItem,
  cache: Cache,
  step: ReturnType<typeof beginBreak>,
): BreakNotice | null {
  const { owner, isVersioned, handles, users } = cache;
  const { caching, told } = step;
  // A break that goes on is the same change to a client.
  const goesOn = cache.caching.breaking !== null;
  const epoch = told === null || goesOn ? cache.epoch : nextEpoch(cache);
  writeCache(tx, item, { owner, caching, isVersioned, epoch, handles, users });
  if (told === null) return null;
  const { from, to, mustAnswer } = told;
  return { item, kind: caching.kind, owner, from, to, mustAnswer, epoch };
}
