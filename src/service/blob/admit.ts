import { Fault, refuse } from "../../base/fault.ts";
import { etagOf } from "../../base/stamp.ts";
import { type Access, type Need, refuseByAccess, refuseOverwrite } from "../../rules/access.ts";
import { refuseBlobName } from "../../rules/blob-name.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import {
  refuseCreateByConditions,
  refuseReadByConditions,
  refuseWriteByConditions,
} from "../../rules/conditions.ts";
import { refuseContainerName } from "../../rules/container-name.ts";
import { refuseByPendingCopy, refuseOnIncrementalCopy } from "../../rules/copy.ts";
import { DASHED_NAME_RULE } from "../../rules/dashed-name.ts";
import { refuseReadByLease, refuseWriteByLease } from "../../rules/lease.ts";
import { refuseByTags } from "../../rules/tag-expression.ts";
import { NO_TAGS, refuseTags, TAGS_RULE } from "../../rules/tags.ts";
import { refuseByTier } from "../../rules/tier.ts";
import type { View } from "../../store/store.ts";
import type {
  BlobAsked,
  BlobCreation,
  BlobRead,
  BlobUse,
  ContainerAddress,
  ContainerRead,
  ContainerUpdate,
} from "./context.ts";
import { type Blob, type Container, readBlob, readContainer } from "./records.ts";
import { findState } from "./state-records.ts";

/** The container, if it is there and the caller may do this to it or to what it holds. */
export function admitToContainer(
  view: View,
  asked: { readonly at: ContainerAddress; readonly access: Access },
  need: Need,
): Container {
  const container = readContainer(view, asked.at);
  // Permission comes first: who may not look does not learn what exists.
  refuse(refuseByAccess(asked.access, need, container, view.now()));
  if (container === null) {
    // What exists has a proper name, so only a miss has to look at it.
    refuse(refuseContainerName(asked.at.container), DASHED_NAME_RULE);
    throw new Fault("ContainerNotFound");
  }
  return container;
}

export function admitContainerRead(view: View, asked: ContainerRead, need: Need): Container {
  const container = admitToContainer(view, asked, need);
  refuse(refuseReadByLease(container.lease, asked.leaseId, view.now(), "Container"));
  return container;
}

/** A container's lease guards its deletion only: other updates need no id, but check one. */
export function admitContainerUpdate(view: View, asked: ContainerUpdate, need: Need): Container {
  const container = admitToContainer(view, asked, need);
  refuse(refuseWriteByConditions(container, asked.conditions));
  refuse(refuseReadByLease(container.lease, asked.leaseId, view.now(), "Container"));
  return container;
}

/**
 * The container that a blob lies in or will lie in, and the blob itself if it is there; of this
 * type, where one is named.
 */
export function admitToBlobName(
  view: View,
  asked: BlobAsked,
  need: Need,
  type: BlobType | null = null,
): { container: Container; old: Blob | null } {
  const container = admitToContainer(view, asked, need);
  refuse(refuseBlobName(asked.at.blob));
  const old = readBlob(view, container, asked.at.blob);
  if (old !== null) refuseOtherType(old, type);
  return { container, old };
}

function refuseOtherType(blob: Blob, type: BlobType | null): void {
  if (type === null || blob.type === type) return;
  throw new Fault("InvalidBlobType", { Reason: `This is a ${blob.type}, not a ${type}.` });
}

/** A blob that must exist, and its container. */
export function admitToBlob(
  view: View,
  asked: BlobAsked,
  need: Need,
  type: BlobType | null = null,
): Admitted {
  const { container, old } = admitToBlobName(view, asked, need, type);
  if (old === null) throw new Fault("BlobNotFound");
  return { container, blob: old };
}

/** The state of a blob that is asked for, which must exist. */
export function admitToState(
  view: View,
  asked: Pick<BlobRead, "at" | "access">,
  need: Need,
  type: BlobType | null = null,
): AdmittedState {
  const container = admitToContainer(view, asked, need);
  refuse(refuseBlobName(asked.at.blob));
  const found = findState(view, container, asked.at);
  if (found === null) throw new Fault("BlobNotFound");
  refuseOtherType(found.blob, type);
  return { container, blob: found.blob, isCurrent: found.isCurrent };
}

export function admitBlobRead(
  view: View,
  asked: BlobRead,
  need: Need,
  type: BlobType | null = null,
): AdmittedState {
  const found = admitBlobLook(view, asked, need, type);
  if (found.isCurrent) refuse(refuseOnIncrementalCopy(found.blob.copy));
  return found;
}

/** The same, for what every blob shows, even one of which nothing else is to be had. */
export function admitBlobLook(
  view: View,
  asked: BlobRead,
  need: Need,
  type: BlobType | null = null,
): AdmittedState {
  const found = admitToState(view, asked, need, type);
  const { blob } = found;
  const refused = refuseReadByConditions(blob, asked.conditions);
  // A cache that is up to date is told so with the ETag it has.
  if (refused === "NotModified") throw new Fault(refused, { ETag: `"${etagOf(blob.etag)}"` });
  refuse(refused);
  refuseByTagsOf(view, asked, found.container, blob);
  refuse(refuseReadByLease(blob.lease, asked.leaseId, view.now(), "Blob"));
  return found;
}

export function admitBlobUpdate(
  view: View,
  asked: BlobUse,
  need: Need,
  type: BlobType | null = null,
): Admitted {
  const admitted = admitBlobRemoval(view, asked, need, type);
  refuse(refuseOnIncrementalCopy(admitted.blob.copy));
  refuse(refuseByTier(admitted.blob.tier, view.now()));
  return admitted;
}

/** The same, for what can be done to an archived blob too. */
export function admitBlobRemoval(
  view: View,
  asked: BlobUse,
  need: Need,
  type: BlobType | null = null,
): Admitted {
  const admitted = admitToBlob(view, asked, need, type);
  refuseRemoval(view, asked, admitted);
  return admitted;
}

/** The same, of a blob that has been found. */
export function refuseRemoval(view: View, asked: BlobUse, { container, blob }: Admitted): void {
  refuse(refuseWriteByConditions(blob, asked.conditions));
  refuseByTagsOf(view, asked, container, blob);
  refuse(refuseWriteByLease(blob.lease, asked.leaseId, view.now(), "Blob"));
  refuse(refuseByPendingCopy(blob.copy));
}

/** Who may not read tags must not find them out by guessing, either. */
export function refuseByTagsOf(
  view: View,
  { access, conditions }: Pick<BlobUse, "access" | "conditions">,
  container: Container,
  blob: Blob | null,
): void {
  if (conditions.ifTags === null) return;
  refuse(refuseByAccess(access, BLOB_NEEDS.getBlobTags, container, view.now()));
  refuse(refuseByTags(blob?.tags ?? NO_TAGS, conditions.ifTags));
}

/** For writes that create a blob or replace one. */
export function admitBlobCreation(
  view: View,
  asked: BlobCreation,
  need: Need,
  type: BlobType | null = null,
  refuseByConditions = refuseCreateByConditions,
): { container: Container; old: Blob | null } {
  const { container, old } = admitToBlobName(view, asked, need, type);
  const now = view.now();
  if (old !== null) refuse(refuseOverwrite(asked.access, container, now));
  if (asked.copiesTags === true || asked.tags.length > 0) {
    refuse(refuseByAccess(asked.access, BLOB_NEEDS.setBlobTags, container, now));
    refuse(refuseTags(asked.tags), TAGS_RULE);
  }
  refuse(refuseByConditions(old, asked.conditions));
  refuseByTagsOf(view, asked, container, old);
  refuse(refuseWriteByLease(old?.lease ?? null, asked.leaseId, now, "Blob"));
  refuse(refuseByPendingCopy(old?.copy ?? null));
  refuse(refuseOnIncrementalCopy(old?.copy ?? null));
  if (old !== null) refuse(refuseByTier(old.tier, now));
  return { container, old };
}

type BlobType = Blob["type"];

interface Admitted {
  readonly container: Container;
  readonly blob: Blob;
}

interface AdmittedState extends Admitted {
  /** A state that is not current never changes. */
  readonly isCurrent: boolean;
}
