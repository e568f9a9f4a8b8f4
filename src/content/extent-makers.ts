import { count, flag, format, text } from "../base/fields.ts";
import { KeyReader, key, keyAfter, keyBehind, SPACE } from "../base/keys.ts";
import { prefetch } from "../store/accelerated.ts";
import type { LeftExtents } from "../store/left-extents.ts";
import type { Store, Transaction, View } from "../store/store.ts";
import { hasUses, listUses, usesOfExtent } from "./content-uses.ts";

/** Extents whose uses one body looks up. */
const EXTENTS_PER_READ = 256;

const lastFormat = format(1, { last: count });
const makerFormat = format(1, { beganMs: count });
const placeFormat = format(1, { id: text, isClaimed: flag });

const makerKey = (maker: number) => key(SPACE.extentMaker, maker);
/** The highest number so far, below all makers. It stays when makers are collected. */
const lastKey = makerKey(0);
const placeKey = () => key(SPACE.extentPlace);

/** Gives this process a number of its own, under which no other one ever makes extents. */
export function beginMaker(store: Store): Promise<number> {
  return store.transact((tx) => {
    const record = tx.get(lastKey);
    const maker = 1 + (record === undefined ? 0 : lastFormat.decode(record).last);
    tx.set(lastKey, lastFormat.encode({ last: maker }));
    tx.set(makerKey(maker), makerFormat.encode({ beganMs: tx.now() }));
    return maker;
  });
}

/** Processes whose extents were not collected, this one included. */
export function listMakers(view: View): number[] {
  const until = keyAfter(key(SPACE.extentMaker));
  const entries = view.range(keyBehind(lastKey), until, { limit: Number.POSITIVE_INFINITY });
  return entries.map((entry) => new KeyReader(entry.key).number());
}

/**
 * Frees what a process has left behind: uploads that it did not finish, and extents that have no
 * bytes in use. Call it when the process has ended and can commit nothing any more, because only
 * then its last extents without use records are known to be garbage. Returns how many were removed.
 */
export async function collectExtents(
  store: Store,
  extents: LeftExtents,
  maker: number,
): Promise<number> {
  let removed = 0;
  await extents.abortUploads(maker);
  for await (const page of extents.extentsOf(maker)) {
    for (let at = 0; at < page.length; at += EXTENTS_PER_READ) {
      const some = page.slice(at, at + EXTENTS_PER_READ);
      const unused = await store.read((view) => unusedOf(view, some));
      for (const extent of unused) await extents.discard(extent);
      removed += unused.length;
    }
  }
  await store.transact((tx) => tx.delete(makerKey(maker)));
  return removed;
}

/** The extents among these that have no bytes in use. */
export function unusedOf(view: View, extents: readonly number[]): number[] {
  prefetch(view, () => extents.map((extent) => usesOfExtent(extent, 0n, 1)));
  return extents.filter((extent) => listUses(view, extent, 0n, 1).length === 0);
}

/**
 * Collects the extents of one ended process, where every process but `running` has ended. Resolves
 * to true if there may be another one.
 */
export async function collectEnded(
  store: Store,
  extents: LeftExtents,
  running: number,
): Promise<boolean> {
  const ended = (await store.read(listMakers)).find((maker) => maker !== running);
  if (ended === undefined) return false;
  await collectExtents(store, extents, ended);
  return true;
}

/** The object store that belongs to these records. */
export interface ExtentPlace {
  /** Written to the object store, too, so that neither is used with another partner. */
  readonly id: string;
  /** Whether the object store has the id. */
  readonly isClaimed: boolean;
}

/** The place of the extents; null if it is not an object store. */
export function readPlace(view: View): ExtentPlace | null {
  const record = view.get(placeKey());
  return record === undefined ? null : placeFormat.decode(record);
}

/** Whether bytes are in use that are not in an object store. */
export function hasLocalBytes(view: View): boolean {
  return readPlace(view) === null && hasUses(view);
}

/** The place of the extents; with `newId` if there is none yet. */
export function beginPlace(store: Store, newId: string): Promise<ExtentPlace> {
  return store.transact((tx) => readPlace(tx) ?? writePlace(tx, { id: newId, isClaimed: false }));
}

/** Notes that the object store has the id. */
export async function notePlaceClaimed(store: Store, id: string): Promise<void> {
  await store.transact((tx) => writePlace(tx, { id, isClaimed: true }));
}

function writePlace(tx: Transaction, place: ExtentPlace): ExtentPlace {
  tx.set(placeKey(), placeFormat.encode(place));
  return place;
}
