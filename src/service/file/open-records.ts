import type { Bytes } from "../../base/bytes.ts";
import {
  added,
  bytes,
  count,
  flag,
  format,
  listOf,
  orNull,
  type RecordOf,
  struct,
  text,
  u64,
} from "../../base/fields.ts";
import { KeyReader, key, keyAfter, SPACE, type Space } from "../../base/keys.ts";
import type { RangeLock } from "../../rules/range-lock.ts";
import type { Entry } from "../../store/entry.ts";
import type { Transaction, View } from "../../store/store.ts";
import { NO_OWNER } from "./cache-owner.ts";

/**
 * Records of open handles and locks, beside the files and directories they belong to. They end with
 * the process that opened them: the next one clears them (`clear-handles.ts`).
 */

/**
 * Spaces of ephemeral records: opens, locks, client caches, and the names of shares that have just
 * been deleted. The engine does not wait for the disk for them. Whatever must outlive the process
 * is also written to a durable record (`persistentHandle`).
 */
export const EPHEMERAL_SPACES: ReadonlySet<Space> = new Set<Space>([
  SPACE.opens,
  SPACE.handle,
  SPACE.rangeLock,
  SPACE.deletePending,
  SPACE.cache,
  SPACE.leasedFile,
  SPACE.shareDeletion,
]);

/** A file or directory that can be opened, by its share's id and its own. */
export interface OpenItem {
  readonly share: bigint;
  readonly id: bigint;
}

/** A summary of all opens of one item, so that one read decides what they permit to others. */
const opensShape = {
  /** Each pair of access and share mode once. */
  modes: listOf(struct({ access: count, share: count, handles: count })),
  locks: count,
  isDeletePending: flag,
  /** Number of oplocks and leases. */
  caches: added(count, 0),
};

const persistentShape = {
  account: text,
  share: text,
  createGuid: bytes,
  timeoutMs: count,
  /** The access mask that SMB granted; `fileId` is how SMB refers to the handle. */
  granted: count,
  mode: count,
  fileId: count,
};

const handleShape = {
  /** The process that serves it. */
  epoch: u64,
  isDirectory: flag,
  /** Bits of `rules/share-mode.ts`, like `share`. */
  access: count,
  share: count,
  deletesOnClose: flag,
  openedMs: count,
  sessionId: u64,
  clientIp: text,
  /** Owner of the handle's cache; empty if it has none. */
  cache: added(bytes, NO_OWNER),
  /** What its client needs to reclaim it after a restart; null if it cannot. */
  persistent: added(orNull(struct(persistentShape)), null),
};

const lockShape = { offset: u64, length: u64, isExclusive: flag };

const pendingShape = {};
const notedShape = {};

export type Persistent = Readonly<RecordOf<typeof persistentShape>>;
export type Opens = Readonly<RecordOf<typeof opensShape>>;
export type Handle = Readonly<RecordOf<typeof handleShape>>;
/** The handle's number within its item, as REST shows it. */
export type HandleId = bigint;

const opensFormat = format(1, opensShape);
const handleFormat = format(1, handleShape);
const lockFormat = format(1, lockShape);
const pendingFormat = format(1, pendingShape);
const notedFormat = format(1, notedShape);

export function opensKey({ share, id }: OpenItem): Bytes {
  return key(SPACE.opens, share, id);
}

export function handleKey({ share, id }: OpenItem, handle: HandleId): Bytes {
  return key(SPACE.handle, share, id, handle);
}

/** Null if the item has no open handle. */
export function readOpens(view: View, item: OpenItem): Opens | null {
  const found = view.get(opensKey(item));
  return found === undefined ? null : opensFormat.decode(found);
}

export function decodeOpens(found: Bytes): Opens {
  return opensFormat.decode(found);
}

/** Null removes the summary, when no handle is left. */
export function writeOpens(tx: Transaction, item: OpenItem, value: Opens | null): void {
  if (value === null) tx.delete(opensKey(item));
  else tx.set(opensKey(item), opensFormat.encode(value));
}

export function readHandle(view: View, item: OpenItem, handle: HandleId): Handle | null {
  const found = view.get(handleKey(item, handle));
  return found === undefined ? null : handleFormat.decode(found);
}

export function decodeHandle(found: Bytes): Handle {
  return handleFormat.decode(found);
}

export function writeHandle(tx: Transaction, item: OpenItem, id: HandleId, value: Handle): void {
  tx.set(handleKey(item, id), handleFormat.encode(value));
  notePersistent(tx, item, id, value);
}

export function deleteHandle(
  tx: Transaction,
  item: OpenItem,
  id: HandleId,
  { persistent }: Handle,
): void {
  tx.delete(handleKey(item, id));
  if (persistent !== null) tx.delete(persistentKey(item, id));
}

/**
 * Called with every change to a handle. The records of a persistent handle must outlive the
 * process; this is the only one of them outside `EPHEMERAL_SPACES`.
 */
export function notePersistent(
  tx: Transaction,
  item: OpenItem,
  id: HandleId,
  { persistent }: Handle,
): void {
  if (persistent !== null) tx.set(persistentKey(item, id), notedFormat.encode({}));
}

function persistentKey({ share, id }: OpenItem, handle: HandleId): Bytes {
  return key(SPACE.persistentHandle, share, id, handle);
}

/** The place of a handle: its item and its number. */
export interface HandlePlace extends OpenItem {
  readonly handle: HandleId;
}

/** Decodes the key of a handle, or of the note that it is persistent. */
export function placeOfHandleKey(found: Bytes): HandlePlace {
  const parts = new KeyReader(found);
  return { share: parts.u64(), id: parts.u64(), handle: parts.u64() };
}

/** A lock as stored; `place` distinguishes equal ones. */
export interface StoredLock extends RangeLock {
  readonly place: Bytes;
}

/** The locks of an item, or of one of its handles. */
export function readLocks(
  view: View,
  { share, id }: OpenItem,
  locks: number,
  handle: HandleId | null = null,
): StoredLock[] {
  const prefix =
    handle === null ? key(SPACE.rangeLock, share, id) : key(SPACE.rangeLock, share, id, handle);
  return view.range(prefix, keyAfter(prefix), { limit: locks }).map((entry) => {
    const { lock } = lockOfEntry(entry);
    return { ...lock, place: entry.key };
  });
}

/** The item and the lock of a record. */
export function lockOfEntry(entry: Entry): { item: OpenItem; lock: RangeLock } {
  const parts = new KeyReader(entry.key);
  const item = { share: parts.u64(), id: parts.u64() };
  return { item, lock: { owner: parts.u64(), ...lockFormat.decode(entry.value) } };
}

/** Where the first handle of an item is. */
export function handlesOf({ share, id }: OpenItem) {
  const from = key(SPACE.handle, share, id);
  return { from, until: keyAfter(from), options: { limit: 1 } };
}

/** Null if the item has no handle. All handles of an item agree on what it is. */
export function isOpenDirectory(view: View, item: OpenItem): boolean | null {
  const { from, until, options } = handlesOf(item);
  const [first] = view.range(from, until, options);
  return first === undefined ? null : decodeHandle(first.value).isDirectory;
}

export function writeLock(tx: Transaction, { share, id }: OpenItem, lock: RangeLock): void {
  const { owner, offset, length, isExclusive } = lock;
  const at = key(SPACE.rangeLock, share, id, owner, tx.stamp());
  tx.set(at, lockFormat.encode({ offset, length, isExclusive }));
}

/** The items of a directory that are pending deletion lie together, so that lists can skip them. */
export function pendingKey(share: bigint, parent: bigint, id: bigint): Bytes {
  return key(SPACE.deletePending, share, parent, id);
}

export function writePending(tx: Transaction, at: Bytes): void {
  tx.set(at, pendingFormat.encode({}));
}
