import { endOfRetention } from "../../rules/retention.ts";
import { NO_TAGS } from "../../rules/tags.ts";
import { tierAsOf } from "../../rules/tier.ts";
import type { Content, Part, Taken } from "../../store/contents.ts";
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
 * Every write that replaces, creates or deletes the current blob passes here, and so does every
 * deletion of its other revisions: what was there stays as a version, is kept for a while because
 * deleted blobs are, or is dropped together with its bytes.
 */

/** The place of a blob, and the container that was found there. */
export interface BlobPlace {
  readonly at: BlobAddress;
  readonly container: Container;
}

/** Puts `next`, whose bytes are its own, in the place of `old`. */
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

/** The same, of bytes that were just taken: they may come to lie where the old ones lay. */
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
  /** What the blob is made of so far. */
  readonly replaced: readonly Part[];
  readonly shares: readonly Content[];
}

/** The same, of a list of parts. To `shares` it has no references yet. */
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

/** Whether there is a blob that does not stay in any way: its bytes are the caller's to drop. */
function isReplaced(
  context: BlobContext,
  tx: Transaction,
  place: BlobPlace,
  old: Blob | null,
): old is Blob {
  if (old === null || keepVersion(context, tx, place, old)) return false;
  return !keepDeleted(context, tx, place, old, { was: "snapshot", stamp: null });
}

/** Puts `next`, which has the bytes of `old`, in its place: for a new version without new bytes. */
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

/** Only current blobs are found by their tags. */
function write(tx: Transaction, { at, container }: BlobPlace, old: Blob | null, next: Blob): void {
  writeBlob(tx, container, at.blob, next);
  indexTags(tx, container, at.blob, old?.tags ?? NO_TAGS, next.tags);
}

/** Changes what is known about a revision, current or not, without making another of it. */
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

/** Whether it is not kept as something deleted: a version is not, but says what the account does. */
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

/** The same, for another revision than the current one. */
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
 * Takes a deleted revision back: as the current blob, if it was that and nothing has come in its place,
 * or else as what it was. What is past its time is dropped instead.
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

/** What has a version id, or would get one now, stays under it. It takes over the bytes. */
function keepVersion(
  context: BlobContext,
  tx: Transaction,
  { at, container }: BlobPlace,
  old: Blob,
): boolean {
  if (old.versionId === 0n && !context.settingsOf(at.account).versioning) return false;
  // Whoever wrote it without versioning gave it a stamp all the same.
  const versionId = old.versionId === 0n ? old.etag : old.versionId;
  const version = { ...old, versionId, lease: null, tier: tierAsOf(old.tier, tx.now()) };
  writeRevision(tx, container, at.blob, { kind: "version", stamp: versionId }, version);
  return true;
}

/** Whether it is gone for good, together with its bytes. */
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

/** What it was; without a stamp of its own it gets one. */
interface DeletedAs {
  readonly was: DeletedBlob["was"];
  readonly stamp: bigint | null;
}

/** Keeps a revision, with its bytes, for as long as deleted blobs are kept; false if they are not. */
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

/** One blob of a name is the deleted one; those before it are its snapshots. */
function makeRoom(context: BlobContext, tx: Transaction, { at, container }: BlobPlace): void {
  const before = readDeletedCurrent(tx, container, at.blob);
  if (before === null) return;
  deleteDeleted(tx, container, at.blob, before);
  if (before.untilMs <= tx.now()) context.contents.drop(tx, before.blob.content);
  else writeDeleted(tx, container, at.blob, { ...before, was: "snapshot" });
}
