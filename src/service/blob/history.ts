import { endOfRetention } from "../../rules/retention.ts";
import { NO_TAGS } from "../../rules/tags.ts";
import { tierAsOf } from "../../rules/tier.ts";
import type { Content, Taken } from "../../store/content.ts";
import type { Part } from "../../store/contents.ts";
import type { Transaction } from "../../store/store.ts";
import { readDeleteRetention } from "../shared/delete-retention.ts";
import type { BlobAddress, BlobContext, BlobRevision, BlobRevisionAddress } from "./context.ts";
import { type Blob, type Container, deleteBlob, readBlob, writeBlob } from "./records.ts";
import {
  type DeletedBlob,
  deleteDeleted,
  deleteRevision,
  readDeletedCurrent,
  writeDeleted,
  writeRevision,
} from "./revision-records.ts";
import { indexTags } from "./tagged-blobs.ts";

/**
 * Every write that creates, replaces or deletes a current blob goes through this file, and so does
 * every deletion of another revision. The old revision becomes a version, is soft-deleted, or is
 * dropped with its bytes.
 */

/** The address of a blob, and the container that was read there. */
export interface BlobPlace {
  readonly at: BlobAddress;
  readonly container: Container;
}

/** Replaces `old` with `next`, whose content has its own reference. */
export function replaceBlob(
  context: BlobContext,
  tx: Transaction,
  place: BlobPlace,
  old: Blob | null,
  next: Blob,
): void {
  if (isReplaced(context, tx, place, old)) context.contents.drop(tx, old.content);
  write(tx, place, old, next);
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
  write(tx, place, old, blob);
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
  if (!isGone) for (const content of shares) contents.share(tx, content);
  const content = isGone
    ? contents.recompose(tx, old.content, parts, shares, replaced)
    : contents.compose(tx, parts);
  const blob = next(content);
  write(tx, place, old, blob);
  return blob;
}

/** Retains `old` as a version or soft-deleted; if neither applies, true: the caller drops it. */
function isReplaced(
  context: BlobContext,
  tx: Transaction,
  place: BlobPlace,
  old: Blob | null,
): old is Blob {
  if (old === null || keepVersion(context, tx, place, old)) return false;
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
  write(tx, place, old, next);
}

/** Writes the current blob and its tag index. Other revisions are not indexed. */
function write(tx: Transaction, { at, container }: BlobPlace, old: Blob | null, next: Blob): void {
  writeBlob(tx, container, at.blob, next);
  indexTags(tx, container, at.blob, old?.tags ?? NO_TAGS, next.tags);
}

/** Updates a revision, current or not, without creating a new version. */
export function amendRevision(
  tx: Transaction,
  { account, container: name, blob, revision }: BlobRevisionAddress,
  found: { readonly container: Container; readonly blob: Blob; readonly isCurrent: boolean },
  next: Blob,
): void {
  const { container, isCurrent } = found;
  if (isCurrent) write(tx, { at: { account, container: name, blob }, container }, found.blob, next);
  else if (revision !== null) writeRevision(tx, container, blob, revision, next);
}

/** Deletes the current blob. True if soft delete is off, even if the blob stays as a version. */
export function removeBlob(
  context: BlobContext,
  tx: Transaction,
  place: BlobPlace,
  old: Blob,
): boolean {
  deleteBlob(tx, place.container, place.at.blob);
  indexTags(tx, place.container, place.at.blob, old.tags, NO_TAGS);
  if (keepVersion(context, tx, place, old)) {
    return readDeleteRetention(tx, place.at.account, "blob") === null;
  }
  return retire(context, tx, place, old, { was: "current", stamp: null });
}

/** Deletes a snapshot or version. Returns whether it cannot be restored. */
export function removeRevision(
  context: BlobContext,
  tx: Transaction,
  place: BlobPlace,
  revision: BlobRevision,
  blob: Blob,
): boolean {
  deleteRevision(tx, place.container, place.at.blob, revision);
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
  const { at, container } = place;
  const { was, stamp, blob, untilMs } = deleted;
  deleteDeleted(tx, container, at.blob, deleted);
  if (untilMs <= tx.now()) {
    context.contents.drop(tx, blob.content);
  } else if (was === "current" && readBlob(tx, container, at.blob) === null) {
    write(tx, place, null, blob);
  } else {
    const kind = was === "version" ? "version" : "snapshot";
    writeRevision(tx, container, at.blob, { kind, stamp }, blob);
  }
}

/** Retains `old`, with its bytes, as a version if it has a version id or versioning is on. */
function keepVersion(
  context: BlobContext,
  tx: Transaction,
  { at, container }: BlobPlace,
  old: Blob,
): boolean {
  if (old.versionId === 0n && !context.settingsOf(at.account).versioning) return false;
  // Without versioning, its ETag is the stamp that identifies it.
  const versionId = old.versionId === 0n ? old.etag : old.versionId;
  const version = { ...old, versionId, lease: null, tier: tierAsOf(old.tier, tx.now()) };
  writeRevision(tx, container, at.blob, { kind: "version", stamp: versionId }, version);
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
  context.contents.drop(tx, blob.content);
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
  const retention = readDeleteRetention(tx, place.at.account, "blob");
  if (retention === null) return false;
  if (was === "current") makeRoom(context, tx, place);
  writeDeleted(tx, place.container, place.at.blob, {
    was,
    stamp: stamp ?? tx.stamp(),
    deletedMs: tx.now(),
    untilMs: endOfRetention(tx.now(), retention.days),
    blob: { ...blob, lease: null, tier: tierAsOf(blob.tier, tx.now()) },
  });
  return true;
}

/** A name has one deleted current blob: turns the one before it into a deleted snapshot. */
function makeRoom(context: BlobContext, tx: Transaction, { at, container }: BlobPlace): void {
  const before = readDeletedCurrent(tx, container, at.blob);
  if (before === null) return;
  deleteDeleted(tx, container, at.blob, before);
  if (before.untilMs <= tx.now()) context.contents.drop(tx, before.blob.content);
  else writeDeleted(tx, container, at.blob, { ...before, was: "snapshot" });
}
