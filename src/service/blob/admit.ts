import { Fault, refuse } from "../../base/fault.ts";
import { etagOf } from "../../base/stamp.ts";
import { type Access, judgeByAccess, judgeOverwrite, type Need } from "../../rules/access.ts";
import { judgeBlobName } from "../../rules/blob-name.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import {
  judgeCreateByConditions,
  judgeReadByConditions,
  judgeWriteByConditions,
  type Versioned,
} from "../../rules/conditions.ts";
import { judgeContainerName } from "../../rules/container-name.ts";
import { judgeByPendingCopy, judgeOnIncrementalCopy } from "../../rules/copy.ts";
import { DASHED_NAME_RULE } from "../../rules/dashed-name.ts";
import { judgeReadByLease, judgeWriteByLease } from "../../rules/lease.ts";
import type { PathKind } from "../../rules/rename.ts";
import { judgeByTags } from "../../rules/tag-expression.ts";
import { judgeTags, NO_TAGS, TAGS_RULE } from "../../rules/tags.ts";
import { judgeByTier } from "../../rules/tier.ts";
import { isDamageError, type View } from "../../store/store.ts";
import { requireOwner } from "../shared/past.ts";
import type {
  BlobAsked,
  BlobCreation,
  BlobRead,
  BlobUse,
  ContainerAddress,
  ContainerRead,
  ContainerUpdate,
} from "./context.ts";
import { readDeletedContainer } from "./deleted-containers.ts";
import { isDirectory } from "./directories.ts";
import { type BlobPlace, findPlace, requireByAcl, requireWay } from "./find-path.ts";
import { requireFlat } from "./hierarchical-limits.ts";
import { type Blob, type Container, readBlob, readContainer } from "./records.ts";
import { findRevision } from "./revision-records.ts";

/**
 * Reads the container, which must exist and grant the caller `need`. `byAcls`: what only ACLs could
 * permit is not refused yet, because those of a path are judged next.
 */
export function admitToContainer(
  view: View,
  asked: { readonly at: ContainerAddress; readonly access: Access },
  need: Need,
  byAcls = false,
): Container {
  const container = containerAt(view, asked);
  const hasAcls = byAcls && container?.isHierarchical === true;
  // Permission comes first: a caller without it does not learn what exists.
  refuse(judgeByAccess(asked.access, need, container, view.now(), hasAcls));
  if (container === null) {
    // An existing container has a valid name, so only a miss needs the check.
    refuse(judgeContainerName(asked.at.container), DASHED_NAME_RULE);
    throw new Fault("ContainerNotFound");
  }
  return container;
}

function containerAt(
  view: View,
  asked: { readonly at: ContainerAddress; readonly access: Access },
): Container | null {
  const { deletedVersion } = asked.at;
  if (deletedVersion === undefined) return readContainer(view, asked.at);
  requireOwner(view, asked);
  return readDeletedContainer(view, asked.at, deletedVersion)?.container ?? null;
}

export function admitContainerRead(view: View, asked: ContainerRead, need: Need): Container {
  const container = admitToContainer(view, asked, need);
  refuse(judgeReadByLease(container.lease, asked.leaseId, view.now(), "Container"));
  return container;
}

/** A container's lease guards its deletion only: other updates need no id, but check one. */
export function admitContainerUpdate(view: View, asked: ContainerUpdate, need: Need): Container {
  const container = admitToContainer(view, asked, need);
  refuse(judgeWriteByConditions(container, asked.conditions));
  refuse(judgeReadByLease(container.lease, asked.leaseId, view.now(), "Container"));
  return container;
}

/**
 * Reads the container of a blob, which must exist, and the blob, which need not. An existing blob
 * must be of `type`, unless that is null.
 */
export function admitToBlobName(
  view: View,
  asked: BlobAsked,
  need: Need,
  type: BlobType | null = null,
): AdmittedName {
  const { container, place } = admitToPlace(view, asked, need);
  const old = readBlob(view, place);
  if (old !== null) requireType(old, type);
  return { container, place, old };
}

/** As `AdmittedName`, for a blob that is created, replaced or deleted. */
interface Replaceable extends AdmittedName {
  /** What conditions are judged by; null if there is no blob. */
  readonly found: Versioned | null;
}

/**
 * As `admitToBlobName`, for writes that need nothing of the old blob: they succeed although its
 * record is damaged. `old` is then null, because nothing of it can be kept. It has no ETag that a
 * client knows, and counts as modified now.
 */
export function admitToReplaceable(
  view: View,
  asked: BlobAsked,
  need: Need,
  type: BlobType | null = null,
): Replaceable {
  const { container, place } = admitToPlace(view, asked, need);
  try {
    const old = readBlob(view, place);
    if (old !== null) requireType(old, type);
    return { container, place, old, found: old };
  } catch (error) {
    // In a hierarchical container it may be a directory, of whose content nobody would know.
    if (!isDamageError(error) || place.way !== null) throw error;
    return { container, place, old: null, found: { etag: 0n, modifiedMs: view.now() } };
  }
}

/** Reads the container of a blob, which must exist, and finds the blob's place in it. */
export function admitToPlace(
  view: View,
  asked: BlobAsked,
  need: Need,
): { container: Container; place: BlobPlace } {
  const container = admitToContainer(view, asked, need, true);
  refuse(judgeBlobName(asked.at.blob));
  const place = findPlace(view, container, asked, need);
  if (place.name === "") {
    throw new Fault("InvalidResourceName", { Reason: "Slashes alone name no file." });
  }
  return { container, place };
}

function requireType(blob: Blob, type: BlobType | null): void {
  if (type === null || blob.type === type) return;
  throw new Fault("InvalidBlobType", { Reason: `This is a ${blob.type}, not a ${type}.` });
}

/** Reads a blob, which must exist, and its container. */
export function admitToBlob(
  view: View,
  asked: BlobAsked,
  need: Need,
  type: BlobType | null = null,
): Admitted {
  const { container, place, old } = admitToBlobName(view, asked, need, type);
  if (old === null) throw new Fault("BlobNotFound");
  return { container, place, blob: old };
}

/** Reads the requested revision of a blob, which must exist. */
export function admitToRevision(
  view: View,
  asked: Pick<BlobRead, "at" | "access">,
  need: Need,
  type: BlobType | null = null,
): AdmittedRevision {
  const { container, place } = admitToPlace(view, asked, need);
  if (asked.at.revision?.isDeleted === true) {
    refuse(judgeByAccess(asked.access, BLOB_NEEDS.readDeleted, container, view.now()));
  }
  const found = findRevision(view, place, asked.at.revision);
  if (found === null) throw new Fault("BlobNotFound");
  // The ACL of the current blob was judged with its place.
  if (!found.isCurrent) requireByAcl(place, found.blob.path?.control ?? null, need);
  requireType(found.blob, type);
  return { container, place, blob: found.blob, isCurrent: found.isCurrent };
}

export function admitBlobRead(
  view: View,
  asked: BlobRead,
  need: Need,
  type: BlobType | null = null,
): AdmittedRevision {
  const found = admitBlobLook(view, asked, need, type);
  if (found.isCurrent) refuse(judgeOnIncrementalCopy(found.blob.copy));
  return found;
}

/** Archived blobs are not read, except by an export. */
export function requireReadableTier(view: View, asked: BlobRead, blob: Blob | null): void {
  if (asked.withArchived === true) requireOwner(view, asked);
  else refuse(judgeByTier(blob?.tier ?? null, view.now()));
}

/** For properties and tags, which can be read even from the target of an incremental copy. */
export function admitBlobLook(
  view: View,
  asked: BlobRead,
  need: Need,
  type: BlobType | null = null,
): AdmittedRevision {
  const found = admitToRevision(view, asked, need, type);
  const { blob } = found;
  const refused = judgeReadByConditions(blob, asked.conditions);
  // Not Modified carries the ETag that the client's cache has.
  if (refused === "NotModified") throw new Fault(refused, { ETag: `"${etagOf(blob.etag)}"` });
  refuse(refused);
  requireTagConditions(view, asked, found.container, blob);
  refuse(judgeReadByLease(blob.lease, asked.leaseId, view.now(), "Blob"));
  return found;
}

export function admitBlobUpdate(
  view: View,
  asked: BlobUse,
  need: Need,
  type: BlobType | null = null,
): Admitted {
  const admitted = admitBlobRemoval(view, asked, need, type);
  refuse(judgeOnIncrementalCopy(admitted.blob.copy));
  refuse(judgeByTier(admitted.blob.tier, view.now()));
  return admitted;
}

/** For updates that an archived blob permits too. */
export function admitBlobRemoval(
  view: View,
  asked: BlobUse,
  need: Need,
  type: BlobType | null = null,
): Admitted {
  const admitted = admitToBlob(view, asked, need, type);
  requireRemovable(view, asked, admitted);
  return admitted;
}

/** Checks conditions, tags, lease and pending copy of a blob that was read before. */
export function requireRemovable(
  view: View,
  asked: BlobUse,
  { container, blob }: Pick<Admitted, "container" | "blob">,
): void {
  refuse(judgeWriteByConditions(blob, asked.conditions));
  requireTagConditions(view, asked, container, blob);
  refuse(judgeWriteByLease(blob.lease, asked.leaseId, view.now(), "Blob"));
  refuse(judgeByPendingCopy(blob.copy));
}

/** A condition on tags needs permission to read tags: otherwise callers could guess them. */
export function requireTagConditions(
  view: View,
  { access, conditions }: Pick<BlobUse, "access" | "conditions">,
  container: Container,
  blob: Blob | null,
): void {
  if (conditions.ifTags === null) return;
  requireFlat(container, "tags");
  refuse(judgeByAccess(access, BLOB_NEEDS.getBlobTags, container, view.now()));
  refuse(judgeByTags(blob?.tags ?? NO_TAGS, conditions.ifTags));
}

/** For writes that create a blob or replace one. */
export function admitBlobCreation(
  view: View,
  asked: BlobCreation,
  need: Need,
  type: BlobType | null = null,
  judgeByConditions = judgeCreateByConditions,
): AdmittedName {
  const { container, place, old, found } = admitToNewName(view, asked, need, type);
  const now = view.now();
  if (found !== null) refuse(judgeOverwrite(asked.access, container, now));
  if (asked.copiesTags === true || asked.tags.length > 0) {
    requireFlat(container, "tags");
    refuse(judgeByAccess(asked.access, BLOB_NEEDS.setBlobTags, container, now));
    refuse(judgeTags(asked.tags), TAGS_RULE);
  }
  refuse(judgeByConditions(found, asked.conditions));
  requireTagConditions(view, asked, container, old);
  refuse(judgeWriteByLease(old?.lease ?? null, asked.leaseId, now, "Blob"));
  refuse(judgeByPendingCopy(old?.copy ?? null));
  refuse(judgeOnIncrementalCopy(old?.copy ?? null));
  if (old !== null) refuse(judgeByTier(old.tier, now));
  requireKind(old, asked.kind ?? "file");
  return { container, place, old };
}

/** In a flat container, a blob of any kind replaces another. */
export function requireKind(old: Blob | null, kind: PathKind): void {
  const found = old?.path == null ? null : isDirectory(old) ? "directory" : "file";
  if (found === null || found === kind) return;
  throw new Fault("PathConflict", { Reason: `There is a ${found} of this name.` });
}

/** As `admitToReplaceable`, for writes that may create the blob. */
export function admitToNewName(
  view: View,
  asked: BlobAsked,
  need: Need,
  type: BlobType | null = null,
): Replaceable {
  const admitted = admitToReplaceable(view, asked, need, type);
  requireWay(admitted.place);
  return admitted;
}

type BlobType = Blob["type"];

interface AdmittedName {
  readonly container: Container;
  readonly place: BlobPlace;
  readonly old: Blob | null;
}

interface Admitted {
  readonly container: Container;
  readonly place: BlobPlace;
  readonly blob: Blob;
}

interface AdmittedRevision extends Admitted {
  /** A revision that is not current never changes. */
  readonly isCurrent: boolean;
}
