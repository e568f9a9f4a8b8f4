import { endOfRetention, type Retained } from "../../rules/retention.ts";
import { NO_TAGS } from "../../rules/tags.ts";
import { tierAsOf } from "../../rules/tier.ts";
import { prefetch } from "../../store/accelerated.ts";
import type { Need } from "../../store/acceleration.ts";
import type { Content, Taken } from "../../store/content.ts";
import type { Part } from "../../store/contents.ts";
import type { Transaction } from "../../store/store.ts";
import { readDeleteRetention } from "../shared/delete-retention.ts";
import type { BlobContext, BlobRevision } from "./context.ts";
import { discardBlob, makeParents, newPath } from "./directories.ts";
import type { BlobPlace } from "./find-path.ts";
import { isMarked } from "./flat-directory.ts";
import {
  type Blob,
  blobKey,
  decodeBlob,
  deleteBlob,
  moveStagedBlob,
  type Place,
  readBlob,
  readBlobRecord,
  stagedBlobKey,
  writeBlob,
} from "./records.ts";
import {
  type DeletedBlob,
  deleteDeleted,
  deleteRevision,
  expiryKey,
  keyOfDeletedCurrent,
  moveSnapshots,
  NO_VALUE,
  needOfSnapshots,
  readDeletedCurrent,
  writeDeleted,
  writeRevision,
} from "./revision-records.ts";
import { dropStagedBlocks } from "./staged-blocks.ts";
import { indexTags } from "./tagged-blobs.ts";
import { isVersioned } from "./version.ts";

/**
 * Every write that creates, replaces or deletes a current blob goes through this file, and so does
 * every deletion of another revision. The old revision becomes a version, is soft-deleted, or is
 * dropped with its bytes.
 */

/** Replaces `old` with `next`, whose content has its own reference. */
export function replaceBlob(
  context: BlobContext,
  tx: Transaction,
  place: BlobPlace,
  old: Blob | null,
  next: Blob,
): void {
  if (isReplaced(context, tx, place, old)) context.contents.drop(tx, old.content);
  write(context, tx, place, old, next);
}

/** Replaces `old` with a blob of newly taken bytes, which may take over the old content's id. */
export function replaceBytes(
  context: BlobContext,
  tx: Transaction,
  place: BlobPlace,
  old: Blob | null,
  taken: Taken,
  next: (content: Content) => Blob,
): Blob {
  const { contents } = context;
  const content = isReplaced(context, tx, place, old)
    ? contents.replace(tx, old.content, taken)
    : contents.keep(tx, taken);
  const blob = next(content);
  write(context, tx, place, old, blob);
  return blob;
}

export interface ReplaceParts {
  readonly parts: readonly Part[];
  /** The parts of the old blob. */
  readonly replaced: readonly Part[];
  readonly shares: readonly Content[];
}

/** Replaces `old` with a blob made of parts. Adds the references that `shares` lists. */
export function replaceParts(
  context: BlobContext,
  tx: Transaction,
  place: BlobPlace,
  old: Blob | null,
  { parts, replaced, shares }: ReplaceParts,
  next: (content: Content) => Blob,
): Blob {
  const { contents } = context;
  const isGone = isReplaced(context, tx, place, old);
  prefetch(tx, () => shares.flatMap((content) => contents.needsToShare(content)));
  if (!isGone) for (const content of shares) contents.share(tx, content);
  const content = isGone
    ? contents.recompose(tx, old.content, parts, shares, replaced)
    : contents.compose(tx, parts);
  const blob = next(content);
  write(context, tx, place, old, blob);
  return blob;
}

/** What a body reads to remove a blob with its snapshots, or to move it away. */
export function needsToRemove({ contents }: BlobContext, place: Place, blob: Blob): Need[] {
  return [
    needOfSnapshots(place, SNAPSHOTS_NAMED_MAX),
    keyOfDeletedCurrent(place),
    stagedBlobKey(place),
    ...contents.needsToDrop(blob.content),
  ];
}

/** Few blobs have more snapshots than this. */
const SNAPSHOTS_NAMED_MAX = 8;

/** Retains `old` as a version or soft-deleted; if neither applies, true: the caller drops it. */
function isReplaced(
  context: BlobContext,
  tx: Transaction,
  place: BlobPlace,
  old: Blob | null,
): old is Blob {
  if (old === null || keepVersion(context, tx, place, old)) return false;
  // As in the service, soft delete does not protect files in directories from being replaced.
  if (place.way !== null) return true;
  return !keepDeleted(context, tx, place, old, { was: "snapshot", stamp: null });
}

/** Replaces `old` with `next`, which has the same content: a new version without new bytes. */
export function reviseBlob(
  context: BlobContext,
  tx: Transaction,
  place: BlobPlace,
  old: Blob,
  next: Blob,
): void {
  if (keepVersion(context, tx, place, old)) context.contents.share(tx, old.content);
  write(context, tx, place, old, next);
}

/** Writes the current blob and its tag index. Other revisions are not indexed. */
function write(
  context: BlobContext,
  tx: Transaction,
  place: BlobPlace,
  old: Blob | null,
  next: Blob,
): void {
  if (place.way === null) writeBlob(tx, place, next);
  else writePath(context, tx, place, old, next);
  indexTags(tx, place, old?.tags ?? NO_TAGS, next.tags);
}

/** A blob in a hierarchical container is a file: it lies in a directory. */
function writePath(
  context: BlobContext,
  tx: Transaction,
  place: BlobPlace,
  old: Blob | null,
  next: Blob,
): void {
  if (old === null) removeExpired(context, tx, place);
  const made = makeParents(context, tx, place);
  const kind = next.content.length === 0 && isMarked(next.metadata) ? "directory" : "file";
  const path = next.path ?? old?.path ?? newPath(tx, made, kind);
  writeBlob(tx, made, next.path === path ? next : { ...next, path });
  const expiresMs = next.terms?.expiresMs ?? null;
  if (expiresMs !== null) tx.set(expiryKey(expiresMs, blobKey(made)), NO_VALUE);
}

/** An expired file does not exist for callers, but its record may. */
function removeExpired({ contents }: BlobContext, tx: Transaction, place: BlobPlace): void {
  const expired = readBlobRecord(tx, place);
  if (expired !== undefined) discardBlob(contents, tx, decodeBlob(expired));
}

/** Updates a revision, current or not, without creating a new version. */
export function amendRevision(
  context: BlobContext,
  tx: Transaction,
  found: { readonly place: BlobPlace; readonly blob: Blob; readonly isCurrent: boolean },
  revision: BlobRevision | null,
  next: Blob,
): void {
  const { place, blob, isCurrent } = found;
  if (isCurrent) write(context, tx, place, blob, next);
  else if (revision !== null) writeRevision(tx, place, revision, next);
}

/**
 * Deletes the current blob. True if soft delete is off, even if the blob stays as a version. `old`
 * is null if its record is damaged: then it cannot be restored, and its bytes are not freed.
 */
export function removeBlob(
  context: BlobContext,
  tx: Transaction,
  place: BlobPlace,
  old: Blob | null,
): boolean {
  deleteBlob(tx, place);
  if (old === null) return true;
  indexTags(tx, place, old.tags, NO_TAGS);
  if (keepVersion(context, tx, place, old)) {
    return readDeleteRetention(tx, place.account, "blob") === null;
  }
  // Each deleted file or directory of a name can be restored, not only the last one.
  const was = place.way === null ? "current" : "path";
  return retire(context, tx, place, old, { was, stamp: null });
}

/**
 * Moves a file or directory, with its snapshots and uncommitted data, to a name where it replaces
 * `old`. What lies in a directory is keyed by the directory's id, and stays where it is.
 */
export function movePath(
  context: BlobContext,
  tx: Transaction,
  from: BlobPlace,
  to: BlobPlace,
  old: Blob | null,
  next: Blob,
): void {
  deleteBlob(tx, from);
  moveSnapshots(tx, from, to);
  dropStagedBlocks(tx, to);
  moveStagedBlob(tx, from, to);
  if (old !== null) discardBlob(context.contents, tx, old);
  write(context, tx, to, old, next);
}

/** Deletes a snapshot or version. Returns whether it cannot be restored. */
export function removeRevision(
  context: BlobContext,
  tx: Transaction,
  place: BlobPlace,
  revision: BlobRevision,
  blob: Blob,
): boolean {
  deleteRevision(tx, place, revision);
  return retire(context, tx, place, blob, { was: revision.kind, stamp: revision.stamp });
}

/**
 * Restores a soft-deleted revision: as the current blob if it was that and the name is free, else
 * as a snapshot or version. Drops it if its retention has ended.
 */
export function restoreRevision(
  context: BlobContext,
  tx: Transaction,
  place: BlobPlace,
  deleted: DeletedBlob,
): void {
  const { was, stamp, blob, untilMs } = deleted;
  deleteDeleted(tx, place, deleted);
  if (untilMs <= tx.now()) {
    discardBlob(context.contents, tx, blob);
  } else if (was === "current" && readBlob(tx, place) === null) {
    write(context, tx, place, null, blob);
  } else {
    const kind = was === "version" ? "version" : "snapshot";
    writeRevision(tx, place, { kind, stamp }, blob);
  }
}

/** Restores a deleted file or directory. Its name must be free. */
export function restorePath(
  context: BlobContext,
  tx: Transaction,
  place: BlobPlace,
  deleted: DeletedBlob,
): void {
  deleteDeleted(tx, place, deleted);
  write(context, tx, place, null, deleted.blob);
}

/** What an import makes of a blob that it has put: another revision of the same name. */
export interface PlacedAs {
  /** Null for the current blob. */
  readonly revision: BlobRevision | null;
  /** Null if it is not deleted. */
  readonly retained: Retained | null;
}

/** Replaces the current blob `old` with `next`, which has the same content, in another place. */
export function placeBlob(
  context: BlobContext,
  tx: Transaction,
  place: BlobPlace,
  old: Blob,
  next: Blob,
  { revision, retained }: PlacedAs,
): void {
  if (revision === null && retained === null) {
    write(context, tx, place, old, next);
    return;
  }
  deleteBlob(tx, place);
  indexTags(tx, place, old.tags, NO_TAGS);
  if (retained !== null) {
    const was = revision?.kind ?? (place.way === null ? "current" : "path");
    if (was === "current") makeRoom(context, tx, place);
    const { deletedMs, untilMs } = retained;
    const stamp = revision?.stamp ?? tx.stamp();
    writeDeleted(tx, place, { was, stamp, deletedMs, untilMs, blob: next });
  } else if (revision !== null) {
    writeRevision(tx, place, revision, next);
  }
}

/** Retains `old`, with its bytes, as a version if it has a version id or versioning is on. */
function keepVersion(context: BlobContext, tx: Transaction, place: BlobPlace, old: Blob): boolean {
  if (old.versionId === 0n && !isVersioned(context, place)) return false;
  // Without versioning, its ETag is the stamp that identifies it.
  const versionId = old.versionId === 0n ? old.etag : old.versionId;
  const version = { ...old, versionId, lease: null, tier: tierAsOf(old.tier, tx.now()) };
  writeRevision(tx, place, { kind: "version", stamp: versionId }, version);
  return true;
}

/** Soft-deletes a revision, or drops it with its bytes. True if it was dropped. */
function retire(
  context: BlobContext,
  tx: Transaction,
  place: BlobPlace,
  blob: Blob,
  as: DeletedAs,
): boolean {
  if (keepDeleted(context, tx, place, blob, as)) return false;
  discardBlob(context.contents, tx, blob);
  return true;
}

/** What a deleted revision was. With a null stamp, it gets a new one. */
interface DeletedAs {
  readonly was: DeletedBlob["was"];
  readonly stamp: bigint | null;
}

/** Retains a deleted revision, with its bytes, for restoring. False if soft delete is off. */
function keepDeleted(
  context: BlobContext,
  tx: Transaction,
  place: BlobPlace,
  blob: Blob,
  { was, stamp }: DeletedAs,
): boolean {
  const retention = readDeleteRetention(tx, place.account, "blob");
  if (retention === null) return false;
  if (was === "current") makeRoom(context, tx, place);
  writeDeleted(tx, place, {
    was,
    stamp: stamp ?? tx.stamp(),
    deletedMs: tx.now(),
    untilMs: endOfRetention(tx.now(), retention.days),
    blob: { ...blob, lease: null, tier: tierAsOf(blob.tier, tx.now()) },
  });
  return true;
}

/** A name has one deleted current blob: turns the one before it into a deleted snapshot. */
function makeRoom(context: BlobContext, tx: Transaction, place: BlobPlace): void {
  const before = readDeletedCurrent(tx, place);
  if (before === null) return;
  deleteDeleted(tx, place, before);
  if (before.untilMs <= tx.now()) context.contents.drop(tx, before.blob.content);
  else writeDeleted(tx, place, { ...before, was: "snapshot" });
}
