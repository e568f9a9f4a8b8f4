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
import type { Transaction, View } from "../../store/store.ts";
import { NO_OWNER } from "./cache-records.ts";

/**
 * Open handles and locks, beside the files and directories they are of. They belong to the process
 * that opened them: whoever comes after it clears them away (see `clear-handles.ts`).
 */

/**
 * Spaces of records that die with their process: opens, locks, caches of clients, and the names of
 * shares that have just been deleted. The engine does not wait for the disk on account of them. What
 * has to outlive the process is written together with a record elsewhere (`persistentHandle`).
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

/** What can be opened: a file or directory of a share, by the ids of both. */
export interface OpenItem {
  readonly share: bigint;
  readonly id: bigint;
}

/** All opens of one item in short, so that one look tells what they leave others to do. */
const opensShape = {
  /** Each pair of access and share mode once. */
  modes: listOf(struct({ access: count, share: count, handles: count })),
  locks: count,
  isDeletePending: flag,
  /** How many oplocks and leases there are. */
  caches: added(count, 0),
};

const persistentShape = {
  account: text,
  share: text,
  createGuid: bytes,
  timeoutMs: count,
  /** What SMB granted, and knows it by. */
  granted: count,
  mode: count,
  fileId: count,
};

const handleShape = {
  /** The process that it belongs to. */
  epoch: u64,
  isDirectory: flag,
  /** Bits of `rules/share-mode.ts`, as `share`. */
  access: count,
  share: count,
  deletesOnClose: flag,
  openedMs: count,
  sessionId: u64,
  clientIp: text,
  /** Of what it lets its client keep; empty if that is nothing. */
  cache: added(bytes, NO_OWNER),
  /** What its client needs to get it back after the server was restarted; null if it cannot. */
  persistent: added(orNull(struct(persistentShape)), null),
};

const lockShape = { offset: u64, length: u64, isExclusive: flag };

const pendingShape = {};
const notedShape = {};

export type Persistent = Readonly<RecordOf<typeof persistentShape>>;
export type Opens = Readonly<RecordOf<typeof opensShape>>;
export type Handle = Readonly<RecordOf<typeof handleShape>>;
/** The handle's number in its item, and over REST. */
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

/** Null if nobody has it open. */
export function readOpens(view: View, item: OpenItem): Opens | null {
  const found = view.get(opensKey(item));
  return found === undefined ? null : opensFormat.decode(found);
}

export function decodeOpens(found: Bytes): Opens {
  return opensFormat.decode(found);
}

/** Null forgets them: nobody has the item open any more. */
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
 * To be called with whatever changes about a handle: if it is to outlive the process, so are its
 * records, all of which lie in `EPHEMERAL_SPACES` but for this one.
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

/** Where a handle lies: what it is of, and its number. */
export interface HandlePlace extends OpenItem {
  readonly handle: HandleId;
}

/** Of the handle itself, or of the note that it is persistent. */
export function placeOfHandleKey(found: Bytes): HandlePlace {
  const parts = new KeyReader(found);
  return { share: parts.u64(), id: parts.u64(), handle: parts.u64() };
}

/** A lock as it is stored: `place` tells equal ones apart. */
export interface StoredLock extends RangeLock {
  readonly place: Bytes;
}

/** All locks of an item, or those of one handle. */
export function readLocks(
  view: View,
  { share, id }: OpenItem,
  locks: number,
  handle: HandleId | null = null,
): StoredLock[] {
  const prefix =
    handle === null ? key(SPACE.rangeLock, share, id) : key(SPACE.rangeLock, share, id, handle);
  return view.range(prefix, keyAfter(prefix), { limit: locks }).map((entry) => {
    const { offset, length, isExclusive } = lockFormat.decode(entry.value);
    const parts = new KeyReader(entry.key);
    parts.u64();
    parts.u64();
    return { owner: parts.u64(), offset, length, isExclusive, place: entry.key };
  });
}

export function writeLock(tx: Transaction, { share, id }: OpenItem, lock: RangeLock): void {
  const { owner, offset, length, isExclusive } = lock;
  const at = key(SPACE.rangeLock, share, id, owner, tx.stamp());
  tx.set(at, lockFormat.encode({ offset, length, isExclusive }));
}

/** Those of a directory that are about to go are found together: lists leave them out. */
export function pendingKey(share: bigint, parent: bigint, id: bigint): Bytes {
  return key(SPACE.deletePending, share, parent, id);
}

export function writePending(tx: Transaction, at: Bytes): void {
  tx.set(at, pendingFormat.encode({}));
}
