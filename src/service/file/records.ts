import type { Bytes } from "../../base/bytes.ts";
import {
  added,
  count,
  format,
  listOf,
  oneOf,
  orNull,
  pairs,
  type RecordOf,
  struct,
  u64,
} from "../../base/fields.ts";
import { KeyReader, key, keyAfter, SPACE } from "../../base/keys.ts";
import { DASHED_NAME_CHARS_MAX, SHARE_SNAPSHOTS_MAX } from "../../base/limits.ts";
import type { Stamp } from "../../base/stamp.ts";
import type { Entry } from "../../store/entry.ts";
import type { Transaction, View } from "../../store/store.ts";
import { EntryCursor } from "../shared/entry-cursor.ts";
import { storedLease } from "../shared/lease-field.ts";
import { storedPolicy } from "../shared/policy-field.ts";
import type { ShareAddress } from "./context.ts";

/** Records of shares. Those of their items are in `tree-records.ts`. */

const storedTier = oneOf("TransactionOptimized", "Hot", "Cool", "Premium");

/** The fields of a share in the first version of this format. */
const firstShareShape = {
  /**
   * The keys of all the share's items begin with this id, so that deleting a share is one record.
   */
  id: u64,
  etag: u64,
  modifiedMs: count,
  lease: storedLease,
  policies: listOf(storedPolicy),
  metadata: pairs,
  quotaGib: count,
  tier: storedTier,
  /** Null if the tier is still the one the share was created with. */
  tierChangedMs: orNull(count),
  /** 0 if there are none. Records older than this are preserved when they change. */
  newestSnapshot: u64,
};

const shareShape = {
  ...firstShareShape,
  /** The tier before the last change; null if there was none. */
  tierBefore: added(orNull(storedTier), null),
};

/** A snapshot of a share. Its stamp finds the tree of that time, and is its name, too. */
const snapshotShape = {
  etag: u64,
  modifiedMs: count,
  lease: storedLease,
  metadata: pairs,
  quotaGib: count,
  /** Of an imported snapshot, which has the name that it had in its source; 0 for its stamp. */
  name: added(u64, 0n),
};

/**
 * A deleted share that can be restored until its time is over. Fields can only be added at the end
 * of a record, so the share in it has none of the later fields.
 */
const deletedShareShape = {
  share: struct(firstShareShape),
  deletedMs: count,
  untilMs: count,
};

export type Share = Readonly<RecordOf<typeof shareShape>>;
export type ShareSnapshot = Readonly<RecordOf<typeof snapshotShape>>;
export interface DeletedShare extends Readonly<RecordOf<typeof deletedShareShape>> {
  readonly share: Share;
}
export type ShareTier = Share["tier"];
export type Metadata = Share["metadata"];

/** Size of the metadata, which makes up most of a large record. */
export function bytesOfMetadata(metadata: Metadata): number {
  let bytes = 0;
  for (const [name, value] of metadata) bytes += name.length + value.length;
  return bytes;
}

export type ShareName = Omit<ShareAddress, "snapshot">;

const shareFormat = format(1, shareShape);
const snapshotFormat = format(1, snapshotShape);
const deletedShareFormat = format(1, deletedShareShape);
/** Marks that a snapshot was deleted. A new stamp makes the sweeper start again. */
const thinnedFormat = format(1, { changed: u64 });
/** The value of records whose key says everything. */
const nothing = format(1, {}).encode({});

export function shareKey(at: ShareName): Bytes {
  return key(SPACE.share, at.account, at.share);
}

export function readShare(view: View, at: ShareName): Share | null {
  // No share has a name this long, so the store is not asked.
  if (at.share.length > DASHED_NAME_CHARS_MAX) return null;
  const found = view.get(shareKey(at));
  return found === undefined ? null : shareFormat.decode(found);
}

export function writeShare(tx: Transaction, at: ShareName, value: Share): void {
  tx.set(shareKey(at), shareFormat.encode(value));
}

/** Frees the share's name. */
export function deleteShare(tx: Transaction, at: ShareName): void {
  tx.delete(shareKey(at));
}

export function decodeShare(found: Bytes): Share {
  return shareFormat.decode(found);
}

/** Leaves the share's items to the sweeper, out of reach. */
export function abandonShare(tx: Transaction, id: bigint): void {
  tx.set(key(SPACE.doomedShare, id), nothing);
}

export function shareOfEntry(entry: Entry): { name: string; share: Share } {
  const parts = new KeyReader(entry.key);
  parts.text();
  return { name: parts.text(), share: shareFormat.decode(entry.value) };
}

function snapshotKey({ id }: Share, stamp: Stamp): Bytes {
  return key(SPACE.shareSnapshot, id, stamp);
}

/** The snapshot that clients know by this name. */
export function findSnapshot(view: View, share: Share, name: Stamp): StampedSnapshot | null {
  const found = view.get(snapshotKey(share, name));
  const snapshot = found === undefined ? null : snapshotFormat.decode(found);
  if (snapshot !== null && snapshot.name === 0n) return { stamp: name, name, snapshot };
  // Few shares have any whose stamp is not their name.
  return snapshotsOf(view, share.id).find((one) => one.name === name) ?? null;
}

export function writeSnapshot(
  tx: Transaction,
  share: Share,
  stamp: Stamp,
  value: ShareSnapshot,
): void {
  tx.set(snapshotKey(share, stamp), snapshotFormat.encode(value));
}

/** Deletes a snapshot, and leaves the records that only it showed to the sweeper. */
export function deleteSnapshot(
  tx: Transaction,
  at: ShareName,
  share: Share,
  { stamp }: StampedSnapshot,
): void {
  tx.delete(snapshotKey(share, stamp));
  tx.set(key(SPACE.thinnedShare, share.id), thinnedFormat.encode({ changed: tx.stamp() }));
  const newestSnapshot = snapshotsOf(tx, share.id).at(-1)?.stamp ?? 0n;
  writeShare(tx, at, { ...share, newestSnapshot });
}

export interface StampedSnapshot {
  /** Finds its tree. Later snapshots have later stamps, and later names. */
  readonly stamp: Stamp;
  /** What clients call it. */
  readonly name: Stamp;
  readonly snapshot: ShareSnapshot;
}

/** The snapshots of a share, oldest first. */
export function snapshotsOf(view: View, share: bigint): StampedSnapshot[] {
  const all = key(SPACE.shareSnapshot, share);
  return view.range(all, keyAfter(all), { limit: SHARE_SNAPSHOTS_MAX }).map((entry) => {
    const parts = new KeyReader(entry.key);
    parts.u64();
    const stamp = parts.u64();
    const snapshot = snapshotFormat.decode(entry.value);
    return { stamp, name: snapshot.name === 0n ? stamp : snapshot.name, snapshot };
  });
}

export function deletedShareKey(at: ShareName, version: Stamp): Bytes {
  return key(SPACE.deletedShare, at.account, at.share, version);
}

/** Makes a share one that was soft-deleted: it can be restored for a while. */
export function writeDeletedShare(
  tx: Transaction,
  at: ShareName,
  version: Stamp,
  value: DeletedShare,
): void {
  tx.set(deletedShareKey(at, version), deletedShareFormat.encode(value));
}

export function readDeletedShare(view: View, at: ShareName, version: Stamp): DeletedShare | null {
  if (at.share.length > DASHED_NAME_CHARS_MAX) return null;
  const found = view.get(deletedShareKey(at, version));
  return found === undefined ? null : decodeDeletedShare(found);
}

function decodeDeletedShare(found: Bytes): DeletedShare {
  const { share, deletedMs, untilMs } = deletedShareFormat.decode(found);
  return { share: { ...share, tierBefore: null }, deletedMs, untilMs };
}

/** The soft-deleted shares of this name that can be restored, in the order of their deletion. */
export function* restorableShares(view: View, at: ShareName): Generator<Share> {
  const all = key(SPACE.deletedShare, at.account, at.share);
  const cursor = new EntryCursor(view, all, keyAfter(all), true);
  for (let entry = cursor.head(Infinity); entry !== null; entry = cursor.head(Infinity)) {
    const { share, untilMs } = decodeDeletedShare(entry.value);
    if (untilMs > view.now()) yield share;
    cursor.advance();
  }
}

export interface DeletedVersion {
  readonly name: string;
  readonly version: Stamp;
  readonly deleted: DeletedShare;
}

export function deletedShareOfEntry(entry: Entry): DeletedVersion {
  const parts = new KeyReader(entry.key);
  parts.text();
  const name = parts.text();
  return { name, version: parts.u64(), deleted: decodeDeletedShare(entry.value) };
}
