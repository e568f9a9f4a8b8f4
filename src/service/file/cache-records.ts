import type { Bytes } from "../../base/bytes.ts";
import { count, flag, format, type RecordOf, u64 } from "../../base/fields.ts";
import { KeyReader, key, keyAfter, SPACE } from "../../base/keys.ts";
import type { Caching } from "../../rules/caching.ts";
import type { Entry } from "../../store/entry.ts";
import type { Transaction, View } from "../../store/store.ts";
import type { CacheOwner } from "./cache-owner.ts";
import { decodeHandle, type OpenItem } from "./open-records.ts";

/**
 * The records of client caches, beside those of the handles: one for each oplock and each lease. A
 * lease can have several handles; its key leads to its file.
 */

const cacheShape = {
  isLease: flag,
  /** Whether the client sends epochs. */
  isVersioned: flag,
  state: count,
  isBreaking: flag,
  breaksFrom: count,
  breaksTo: count,
  target: count,
  /** Counts the changes of state that the client was told of. */
  epoch: count,
  handles: count,
  /** The handles among these that do more than look at attributes. */
  users: count,
};

const leasedShape = { item: u64 };

type CacheFields = Readonly<RecordOf<typeof cacheShape>>;

/** The caching that one owner has of a file. */
export interface Cache {
  readonly owner: CacheOwner;
  readonly caching: Caching;
  readonly isVersioned: boolean;
  readonly epoch: number;
  readonly handles: number;
  readonly users: number;
}

const cacheFormat = format(1, cacheShape);
const leasedFormat = format(1, leasedShape);

function cacheKey({ share, id }: OpenItem, owner: CacheOwner): Bytes {
  return key(SPACE.cache, share, id, owner);
}

/** Decodes the item from the key of a cache. */
export function itemOfCacheKey(found: Bytes): OpenItem {
  const parts = new KeyReader(found);
  return { share: parts.u64(), id: parts.u64() };
}

/** The epochs of the front ends whose clients have handles of a cache. */
export function epochsOfCache(view: View, { share, id }: OpenItem, owner: CacheOwner): Set<bigint> {
  const all = key(SPACE.handle, share, id);
  const handles = view
    .range(all, keyAfter(all), { limit: Number.POSITIVE_INFINITY })
    .map((entry) => decodeHandle(entry.value));
  return new Set(handles.filter(({ cache }) => cache.equals(owner)).map(({ epoch }) => epoch));
}

export function readCache(view: View, item: OpenItem, owner: CacheOwner): Cache | null {
  const found = view.get(cacheKey(item, owner));
  return found === undefined ? null : cacheOf(owner, cacheFormat.decode(found));
}

export function readCaches(view: View, { share, id }: OpenItem, caches: number): Cache[] {
  const all = key(SPACE.cache, share, id);
  return view.range(all, keyAfter(all), { limit: caches }).map((entry) => {
    const parts = new KeyReader(entry.key);
    parts.u64();
    parts.u64();
    return cacheOf(parts.rest(), cacheFormat.decode(entry.value));
  });
}

function cacheOf(owner: CacheOwner, fields: CacheFields): Cache {
  const { isLease, isVersioned, state, isBreaking, breaksFrom, breaksTo, target } = fields;
  const { epoch, handles, users } = fields;
  const breaking = isBreaking ? { from: breaksFrom, to: breaksTo, target } : null;
  const caching: Caching = { kind: isLease ? "lease" : "oplock", state, breaking };
  return { owner, caching, isVersioned, epoch, handles, users };
}

/** The item and the cache of a record. */
export function cacheOfEntry(entry: Entry): { item: OpenItem; cache: Cache } {
  const parts = new KeyReader(entry.key);
  const item = { share: parts.u64(), id: parts.u64() };
  return { item, cache: cacheOf(parts.rest(), cacheFormat.decode(entry.value)) };
}

export function writeCache(tx: Transaction, item: OpenItem, cache: Cache): void {
  const { owner, caching, isVersioned, epoch, handles, users } = cache;
  const { kind, state, breaking } = caching;
  const fields = {
    isLease: kind === "lease",
    isVersioned,
    state,
    isBreaking: breaking !== null,
    breaksFrom: breaking?.from ?? 0,
    breaksTo: breaking?.to ?? 0,
    target: breaking?.target ?? 0,
    epoch,
    handles,
    users,
  };
  tx.set(cacheKey(item, owner), cacheFormat.encode(fields));
}

export function deleteCache(tx: Transaction, item: OpenItem, owner: CacheOwner): void {
  tx.delete(cacheKey(item, owner));
}

function leasedKey(share: bigint, owner: CacheOwner): Bytes {
  return key(SPACE.leasedFile, share, owner);
}

/** The file of a lease; null if there is no such lease. */
export function readLeased(view: View, share: bigint, owner: CacheOwner): OpenItem | null {
  const found = view.get(leasedKey(share, owner));
  return found === undefined ? null : { share, id: leasedFormat.decode(found).item };
}

export function writeLeased(tx: Transaction, { share, id }: OpenItem, owner: CacheOwner): void {
  tx.set(leasedKey(share, owner), leasedFormat.encode({ item: id }));
}

export function deleteLeased(tx: Transaction, share: bigint, owner: CacheOwner): void {
  tx.delete(leasedKey(share, owner));
}
