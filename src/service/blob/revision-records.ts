import type { Bytes } from "../../base/bytes.ts";
import type { Instant } from "../../base/clock.ts";
import { count, format, oneOf, type RecordOf, u64 } from "../../base/fields.ts";
import { KeyReader, key, keyAfter, SPACE } from "../../base/keys.ts";
import type { Stamp } from "../../base/stamp.ts";
import type { Transaction, View } from "../../store/store.ts";
import type { BlobRevision, BlobRevisionAddress } from "./context.ts";
import {
  type Blob,
  blobFields,
  type Container,
  type ContainerId,
  CURRENT,
  decodeBlob,
  encodeBlob,
  readBlob,
} from "./records.ts";

/**
 * Records of a blob's revisions other than the current one. Each kind has its own space, so that
 * listing current blobs does not read them and one lookup tells whether a blob has snapshots.
 */

const SPACES = { snapshot: SPACE.blobSnapshot, version: SPACE.blobVersion } as const;

/** A revision that was deleted and can still be restored. */
const deletedBlobShape = {
  was: oneOf("current", "snapshot", "version"),
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

function revisionKey({ id }: ContainerId, name: string, { kind, stamp }: BlobRevision): Bytes {
  return key(SPACES[kind], id, name, stamp);
}

/** Reads the revision at an address: the current blob, a snapshot or a version. */
export function findRevision(
  view: View,
  container: Container,
  { blob: name, revision }: BlobRevisionAddress,
): { blob: Blob; isCurrent: boolean } | null {
  if (revision?.kind !== "snapshot") {
    const blob = readBlob(view, container, name);
    const isMeant = revision === null || blob?.versionId === revision.stamp;
    if (isMeant) return blob === null ? null : { blob, isCurrent: true };
  }
  const blob = readRevision(view, container, name, revision);
  return blob === null ? null : { blob, isCurrent: false };
}

export function readRevision(
  view: View,
  container: ContainerId,
  name: string,
  revision: BlobRevision,
): Blob | null {
  const found = view.get(revisionKey(container, name, revision));
  return found === undefined ? null : decodeBlob(found);
}

export function writeRevision(
  tx: Transaction,
  container: ContainerId,
  name: string,
  revision: BlobRevision,
  value: Blob,
): void {
  tx.set(revisionKey(container, name, revision), encodeBlob(value));
}

export function deleteRevision(
  tx: Transaction,
  container: ContainerId,
  name: string,
  revision: BlobRevision,
): void {
  tx.delete(revisionKey(container, name, revision));
}

/** Whether a name has snapshots or versions, with or without a current blob. */
export function hasRevisions(view: View, { id }: ContainerId, name: string): boolean {
  return Object.values(SPACES).some((space) => {
    const all = key(space, id, name);
    return view.range(all, keyAfter(all), { limit: 1 }).length > 0;
  });
}

/** Up to `limit` snapshots, the oldest first. */
export function readSnapshots(
  view: View,
  { id }: ContainerId,
  name: string,
  limit: number,
): { stamp: Stamp; blob: Blob }[] {
  const all = key(SPACE.blobSnapshot, id, name);
  return view
    .range(all, keyAfter(all), { limit })
    .map((entry) => ({ stamp: stampOfKey(entry.key), blob: decodeBlob(entry.value) }));
}

/** The stamp in the key of a revision, current or not. */
export function stampOfKey(found: Bytes): Stamp {
  const parts = new KeyReader(found);
  parts.u64();
  parts.text();
  return parts.u64();
}

function deletedKey(
  { id }: ContainerId,
  name: string,
  { was, stamp }: Pick<DeletedBlob, "was" | "stamp">,
): Bytes {
  if (was === "current") return key(SPACE.deletedBlob, id, name, DELETED_CURRENT);
  return key(SPACE.deletedRevision, id, name, stamp);
}

export function writeDeleted(
  tx: Transaction,
  container: ContainerId,
  name: string,
  value: DeletedBlob,
): void {
  const at = deletedKey(container, name, value);
  tx.set(at, deletedBlobFormat.encode(value));
  tx.set(expiryKey(value.untilMs, at), NO_VALUE);
}

export function deleteDeleted(
  tx: Transaction,
  container: ContainerId,
  name: string,
  value: DeletedBlob,
): void {
  const at = deletedKey(container, name, value);
  tx.delete(at);
  tx.delete(expiryKey(value.untilMs, at));
}

/** A deleted snapshot or version that can still be restored. */
export function findDeleted(
  view: View,
  container: ContainerId,
  name: string,
  { kind, stamp }: BlobRevision,
): DeletedBlob | null {
  const found = view.get(deletedKey(container, name, { was: kind, stamp }));
  const deleted =
    found === undefined ? readDeletedCurrent(view, container, name) : decodeDeleted(found);
  const isMeant = deleted?.stamp === stamp && (deleted.was === "version") === (kind === "version");
  return isMeant && deleted.untilMs > view.now() ? deleted : null;
}

/** The current blob that was deleted last. Its retention may have ended. */
export function readDeletedCurrent(
  view: View,
  container: ContainerId,
  name: string,
): DeletedBlob | null {
  const found = view.get(deletedKey(container, name, { was: "current", stamp: 0n }));
  return found === undefined ? null : deletedBlobFormat.decode(found);
}

/** Up to `limit` deleted snapshots and versions. The retention of some may have ended. */
export function readDeletedRevisions(
  view: View,
  { id }: ContainerId,
  name: string,
  limit: number,
): DeletedBlob[] {
  const all = key(SPACE.deletedRevision, id, name);
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
