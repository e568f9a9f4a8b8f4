import type { Bytes } from "../../base/bytes.ts";
import type { Instant } from "../../base/clock.ts";
import { Fault } from "../../base/fault.ts";
import { count, format, oneOf, type RecordOf, u64 } from "../../base/fields.ts";
import { KeyReader, key, keyAfter, SPACE } from "../../base/keys.ts";
import type { Stamp } from "../../base/stamp.ts";
import type { NeededRange } from "../../store/acceleration.ts";
import type { Transaction, View } from "../../store/store.ts";
import { type BlobRevision, NO_STAMP } from "./context.ts";
import {
  type Blob,
  blobFields,
  CURRENT,
  decodeBlob,
  encodeBlob,
  type Place,
  readBlob,
} from "./records.ts";

/**
 * Records of a blob's revisions other than the current one. Each kind has its own space, so that
 * listing current blobs does not read them and one lookup tells whether a blob has snapshots.
 */

const SPACES = { snapshot: SPACE.blobSnapshot, version: SPACE.blobVersion } as const;

/** A revision that was deleted and can still be restored. */
const deletedBlobShape = {
  /** A `path` was the current blob of a name in a hierarchical container. */
  was: oneOf("current", "snapshot", "version", "path"),
  /** Identifies the snapshot or version once restored. */
  stamp: u64,
  deletedMs: count,
  /** From then on it is gone, even if the sweeper has not removed it yet. */
  untilMs: count,
  blob: blobFields,
};

export type DeletedBlob = Readonly<RecordOf<typeof deletedBlobShape>>;

const deletedBlobFormat = format(1, deletedBlobShape);

/** Sorts after every other revision and before the current blob. */
const DELETED_CURRENT = CURRENT - 1n;

function revisionKey({ parent, name }: Place, { kind, stamp }: BlobRevision): Bytes {
  return key(SPACES[kind], parent.id, name, stamp);
}

/** Reads the current blob of a place (`revision` is null), a snapshot or a version. */
export function findRevision(
  view: View,
  place: Place,
  revision: BlobRevision | null,
): { blob: Blob; isCurrent: boolean } | null {
  if (revision?.isDeleted === true) return findDeletedRevision(view, place, revision);
  if (revision?.kind !== "snapshot") {
    const blob = readBlob(view, place);
    const isMeant = revision === null || blob?.versionId === revision.stamp;
    if (isMeant) return blob === null ? null : { blob, isCurrent: true };
  }
  const blob = readRevision(view, place, revision);
  return blob === null ? null : { blob, isCurrent: false };
}

function findDeletedRevision(
  view: View,
  place: Place,
  revision: BlobRevision,
): { blob: Blob; isCurrent: boolean } | null {
  const isLast = revision.stamp === NO_STAMP;
  const deleted = isLast ? readDeletedCurrent(view, place) : findDeleted(view, place, revision);
  return deleted === null || deleted.untilMs <= view.now()
    ? null
    : { blob: deleted.blob, isCurrent: false };
}

export function readRevision(view: View, place: Place, revision: BlobRevision): Blob | null {
  const found = view.get(revisionKey(place, revision));
  return found === undefined ? null : decodeBlob(found);
}

export function writeRevision(
  tx: Transaction,
  place: Place,
  revision: BlobRevision,
  value: Blob,
): void {
  tx.set(revisionKey(place, revision), encodeBlob(value));
}

export function deleteRevision(tx: Transaction, place: Place, revision: BlobRevision): void {
  tx.delete(revisionKey(place, revision));
}

/** Whether a name has snapshots or versions, with or without a current blob. */
export function hasRevisions(view: View, { parent, name }: Place): boolean {
  return Object.values(SPACES).some((space) => {
    const all = key(space, parent.id, name);
    return view.range(all, keyAfter(all), { limit: 1 }).length > 0;
  });
}

/** Up to `limit` snapshots, the oldest first. */
export function readSnapshots(
  view: View,
  { parent, name }: Place,
  limit: number,
): { stamp: Stamp; blob: Blob }[] {
  const { from, until, options } = needOfSnapshots({ parent, name }, limit);
  return view
    .range(from, until, options)
    .map((entry) => ({ stamp: stampOfKey(entry.key), blob: decodeBlob(entry.value) }));
}

/** What `readSnapshots` reads. */
export function needOfSnapshots({ parent, name }: Place, limit: number): NeededRange {
  const all = key(SPACE.blobSnapshot, parent.id, name);
  return { from: all, until: keyAfter(all), options: { limit } };
}

/** Snapshots that a rename takes along in its transaction. */
const MOVED_SNAPSHOTS_MAX = 1_000;

/** Moves the snapshots of a file to another name. */
export function moveSnapshots(tx: Transaction, from: Place, to: Place): void {
  const snapshots = readSnapshots(tx, from, MOVED_SNAPSHOTS_MAX + 1);
  if (snapshots.length > MOVED_SNAPSHOTS_MAX) {
    throw new Fault("SnapshotsPresent", {
      Reason: `A file with more than ${MOVED_SNAPSHOTS_MAX} snapshots cannot be renamed.`,
    });
  }
  for (const { stamp, blob } of snapshots) {
    deleteRevision(tx, from, { kind: "snapshot", stamp });
    writeRevision(tx, to, { kind: "snapshot", stamp }, blob);
  }
}

/** The stamp in the key of a revision, current or not. */
export function stampOfKey(found: Bytes): Stamp {
  const parts = new KeyReader(found);
  parts.u64();
  parts.text();
  return parts.u64();
}

function deletedKey(
  { parent, name }: Place,
  { was, stamp }: Pick<DeletedBlob, "was" | "stamp">,
): Bytes {
  if (was === "current") return key(SPACE.deletedBlob, parent.id, name, DELETED_CURRENT);
  if (was === "path") return key(SPACE.deletedPath, parent.id, name, stamp);
  return key(SPACE.deletedRevision, parent.id, name, stamp);
}

export function writeDeleted(tx: Transaction, place: Place, value: DeletedBlob): void {
  const at = deletedKey(place, value);
  tx.set(at, deletedBlobFormat.encode(value));
  tx.set(expiryKey(value.untilMs, at), NO_VALUE);
}

export function deleteDeleted(tx: Transaction, place: Place, value: DeletedBlob): void {
  const at = deletedKey(place, value);
  tx.delete(at);
  tx.delete(expiryKey(value.untilMs, at));
}

/** A deleted snapshot or version that can still be restored. */
export function findDeleted(
  view: View,
  place: Place,
  { kind, stamp }: BlobRevision,
): DeletedBlob | null {
  const found = view.get(deletedKey(place, { was: kind, stamp }));
  const deleted = found === undefined ? readDeletedCurrent(view, place) : decodeDeleted(found);
  const isMeant = deleted?.stamp === stamp && (deleted.was === "version") === (kind === "version");
  return isMeant && deleted.untilMs > view.now() ? deleted : null;
}

/** The key of the current blob that was deleted last. */
export function keyOfDeletedCurrent(place: Place): Bytes {
  return deletedKey(place, { was: "current", stamp: 0n });
}

/** The current blob that was deleted last. Its retention may have ended. */
export function readDeletedCurrent(view: View, place: Place): DeletedBlob | null {
  const found = view.get(keyOfDeletedCurrent(place));
  return found === undefined ? null : deletedBlobFormat.decode(found);
}

/** A deleted file or directory that can still be restored; the last one if `stamp` is null. */
export function findDeletedPath(view: View, place: Place, stamp: Stamp | null): DeletedBlob | null {
  const { parent, name } = place;
  const all = key(SPACE.deletedPath, parent.id, name, ...(stamp === null ? [] : [stamp]));
  const found = view.range(all, keyAfter(all), { limit: 1, reverse: true })[0];
  const deleted = found === undefined ? null : decodeDeleted(found.value);
  return deleted !== null && deleted.untilMs > view.now() ? deleted : null;
}

/** Up to `limit` deleted snapshots and versions. The retention of some may have ended. */
export function readDeletedRevisions(
  view: View,
  { parent, name }: Place,
  limit: number,
): DeletedBlob[] {
  const all = key(SPACE.deletedRevision, parent.id, name);
  return view
    .range(all, keyAfter(all), { limit })
    .map((entry) => deletedBlobFormat.decode(entry.value));
}

export function decodeDeleted(found: Bytes): DeletedBlob {
  return deletedBlobFormat.decode(found);
}

export const NO_VALUE = Buffer.alloc(0);

/** Key of an index that orders deleted records by expiry. */
export function expiryKey(untilMs: Instant, of: Bytes): Bytes {
  return key(SPACE.expiringBlob, untilMs, of);
}

/** The key of the record that expires, which follows the space and the time. */
export function ofExpiryKey(found: Bytes): Bytes {
  return found.subarray(1 + 8);
}
