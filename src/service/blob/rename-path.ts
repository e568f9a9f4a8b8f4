import { Fault, refuse } from "../../base/fault.ts";
import { type Access, judgeOverwrite, judgeReachBelow } from "../../rules/access.ts";
import { judgeBlobName } from "../../rules/blob-name.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import {
  type Conditions,
  judgeCreateByConditions,
  judgeSourceByConditions,
} from "../../rules/conditions.ts";
import { judgeByPendingCopy } from "../../rules/copy.ts";
import { judgeReadByLease, judgeWriteByLease } from "../../rules/lease.ts";
import { judgeRename, type PathKind } from "../../rules/rename.ts";
import { prefetch } from "../../store/accelerated.ts";
import type { Transaction } from "../../store/store.ts";
import { admitToBlobName } from "./admit.ts";
import type { BlobAddress, BlobContext, BlobUse } from "./context.ts";
import { type BlobPlace, componentsOf } from "./find-path.ts";
import { belowOf, blobsBelow, isFilled, kindAt, kindOf, withMark } from "./flat-directory.ts";
import { movePath, needsToRemove, removeBlob, replaceBlob } from "./history.ts";
import {
  type Blob,
  type BlobProperties,
  blobKey,
  type Metadata,
  readBlob,
  stagedBlobKey,
} from "./records.ts";
import { readSnapshots } from "./revision-records.ts";
import { dropStagedBlocks } from "./staged-blocks.ts";
import { type BlobWritten, nextRevision, nextVersion } from "./version.ts";

/** Renames a file or directory to `at`, where it replaces a file or an empty directory. */
export interface RenamePath extends BlobUse {
  /** In the same account. */
  readonly source: RenameSource;
  /** Null to keep what the source has. */
  readonly metadata: Metadata | null;
  /** Only those that replace what the source has. */
  readonly properties: Partial<BlobProperties>;
  /** Whether an earlier request of the same rename has checked both paths already. */
  readonly isContinued: boolean;
}

export interface RenameSource {
  readonly at: BlobAddress;
  readonly access: Access;
  readonly conditions: Conditions;
  readonly leaseId: string | null;
}

export interface RenamePathDone {
  /** Null for a directory of a flat container that only its blobs make one. */
  readonly written: BlobWritten | null;
  /** Whether another request must go on: part of the directory still has its old name. */
  readonly hasMore: boolean;
}

/** Blobs that one transaction renames. */
const BODY_BLOBS_MAX = 128;
/** Transactions of one request. A flat directory with more takes several requests. */
const BODIES_MAX = 20;

export async function renamePath(context: BlobContext, asked: RenamePath): Promise<RenamePathDone> {
  for (let body = 0; body < BODIES_MAX; body++) {
    const isFirst = body === 0 && !asked.isContinued;
    const done = await context.store.transact((tx) => renameOnce(context, tx, asked, isFirst));
    if (done !== null) return { written: done.written, hasMore: false };
  }
  return { written: null, hasMore: true };
}

/** Null if part of a directory is left. */
function renameOnce(
  context: BlobContext,
  tx: Transaction,
  asked: RenamePath,
  isFirst: boolean,
): { written: BlobWritten | null } | null {
  const { from, to, kind, isSame } = admitRename(tx, asked, isFirst);
  if (isSame) return { written: from.blob };
  if (to.place.way !== null && from.blob !== null) {
    return { written: moveInTree(context, tx, asked, from.place, from.blob, to) };
  }
  if (kind === "directory") {
    const blobs = blobsBelow(tx, from.place.parent, from.place.name, BODY_BLOBS_MAX);
    prefetch(tx, () =>
      blobs.flatMap(({ name, blob }) => {
        const target = { ...to.place, name: nameBelow(from.place, to.place, name) };
        const left = needsToRemove(context, { ...from.place, name }, blob);
        return [...left, blobKey(target), stagedBlobKey(target)];
      }),
    );
    for (const { name, blob } of blobs) moveBelow(context, tx, from.place, to.place, name, blob);
    if (blobs.length === BODY_BLOBS_MAX) return null;
  }
  // The directory itself goes last: until then, its rename can be continued.
  if (from.blob === null) return { written: null };
  const next = { ...from.blob, ...changesOf(asked, from.blob, kind) };
  return { written: move(context, tx, from.place, next, to.place, to.old) };
}

interface AdmittedRename {
  readonly from: { readonly place: BlobPlace; readonly blob: Blob | null };
  readonly to: { readonly place: BlobPlace; readonly old: Blob | null };
  readonly kind: PathKind;
  /** Whether a file already has its new name. */
  readonly isSame: boolean;
}

/** The order of these checks decides which error a client sees. */
function admitRename(tx: Transaction, asked: RenamePath, isFirst: boolean): AdmittedRename {
  const { at, source } = asked;
  const now = tx.now();
  const admitted = admitToBlobName(tx, source, BLOB_NEEDS.renamePath);
  const { place: fromPlace, old: blob } = admitted;
  const { container, place, old } = admitToBlobName(tx, asked, BLOB_NEEDS.createPath);
  const kind = kindAt(tx, fromPlace, blob);
  const from = { place: fromPlace, blob };
  const to = { place, old };
  const isSameContainer = admitted.container.id === container.id;
  const isSame = kind === "file" && isSamePlace(fromPlace, place);
  if (kind === "directory") refuse(judgeReachBelow(source.access));
  // Only directories of flat containers are renamed in parts. A client could say so of anything.
  const isContinued = !isFirst && fromPlace.way === null && place.way === null && kind !== "file";
  if (isContinued) return { from, to, kind: "directory", isSame };
  if (kind === null) throw new Fault("SourcePathNotFound");
  requireWayTo(fromPlace, place);
  const target = kindAt(tx, place, old);
  if (target !== null) {
    refuse(judgeOverwrite(asked.access, container, now));
    if (asked.conditions.ifNoneMatch?.[0] === "*") throw new Fault("BlobAlreadyExists");
  }
  refuse(judgeCreateByConditions(old, asked.conditions));
  // A rename ends the lease of what it replaces, and needs its id only if one is sent.
  refuse(judgeReadByLease(old?.lease ?? null, asked.leaseId, now, "Blob"));
  refuse(judgeByPendingCopy(old?.copy ?? null));
  if (blob !== null) {
    refuse(judgeSourceByConditions(blob, source.conditions, "copied"));
    refuse(judgeWriteByLease(blob.lease, source.leaseId, now, "Blob"));
    refuse(judgeByPendingCopy(blob.copy));
  }
  refuse(
    judgeRename({
      source: kind,
      target,
      isTargetFilled: target === "directory" && isFilled(tx, place, old),
      isWithin: isSameContainer && isWithin(at.blob, source.at.blob),
    }),
  );
  return { from, to, kind, isSame };
}

function isSamePlace(one: BlobPlace, other: BlobPlace): boolean {
  return one.parent.id === other.parent.id && one.name === other.name;
}

/** A rename creates no directories, and leads from one kind of container to the same kind. */
function requireWayTo(from: BlobPlace, { way }: BlobPlace): void {
  if ((from.way === null) !== (way === null)) {
    throw new Fault("InvalidSourceOrDestinationResourceType", {
      Reason: "Only one of the two file systems has a hierarchical namespace.",
    });
  }
  if (way?.isBlocked === true) throw new Fault("InvalidDestinationPath");
  if (way !== null && way.missing.length > 0) {
    throw new Fault("RenameDestinationParentPathNotFound");
  }
}

/** Whether a path is that of a directory, or lies below it. */
function isWithin(path: string, directory: string): boolean {
  const [whole, above] = [pathOf(path), pathOf(directory)];
  return whole === above || whole.startsWith(belowOf(above));
}

/** A path without the slashes that name nothing. */
function pathOf(name: string): string {
  return componentsOf(name).join("/");
}

/** Renames a file or directory by one record, whatever lies in it. */
function moveInTree(
  context: BlobContext,
  tx: Transaction,
  asked: RenamePath,
  from: BlobPlace,
  blob: Blob,
  to: AdmittedRename["to"],
): BlobWritten {
  const changes = changesOf(asked, blob, kindOf(blob));
  const next = { ...blob, ...nextVersion(tx, blob), ...changes };
  movePath(context, tx, from, to.place, to.old, next);
  return next;
}

function changesOf(
  { metadata, properties }: RenamePath,
  blob: Blob,
  kind: PathKind,
): Pick<Blob, "metadata" | "properties"> {
  const next = metadata ?? blob.metadata;
  return {
    metadata: kind === "directory" ? withMark(next) : next,
    properties: { ...blob.properties, ...properties },
  };
}

/** The new name of a blob that lies below the directory. */
function nameBelow(from: BlobPlace, to: BlobPlace, name: string): string {
  return to.name + name.slice(from.name.length);
}

/** Renames a blob that lies below the directory. */
function moveBelow(
  context: BlobContext,
  tx: Transaction,
  from: BlobPlace,
  to: BlobPlace,
  name: string,
  blob: Blob,
): void {
  const next = nameBelow(from, to, name);
  refuse(judgeBlobName(next));
  refuse(judgeWriteByLease(blob.lease, null, tx.now(), "Blob"));
  refuse(judgeByPendingCopy(blob.copy));
  const place = { ...to, name: next };
  move(context, tx, { ...from, name }, blob, place, readBlob(tx, place));
}

/** Writes the blob under its new name, and deletes the old one. */
function move(
  context: BlobContext,
  tx: Transaction,
  from: BlobPlace,
  blob: Blob,
  to: BlobPlace,
  old: Blob | null,
): BlobWritten {
  if (readSnapshots(tx, from, 1).length > 0) {
    throw new Fault("SnapshotsPresent");
  }
  const { etag, modifiedMs, versionId } = nextRevision(context, tx, to, old);
  const next = { ...blob, etag, modifiedMs, versionId };
  context.contents.share(tx, blob.content);
  replaceBlob(context, tx, to, old, next);
  dropStagedBlocks(tx, to);
  dropStagedBlocks(tx, from);
  removeBlob(context, tx, from, blob);
  return next;
}
