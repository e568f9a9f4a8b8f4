import { refuse } from "../../base/fault.ts";
import { refuseByAccess } from "../../rules/access.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import { refuseSourceByConditions, type SourceRole } from "../../rules/conditions.ts";
import { refuseByPendingCopy, refuseOnIncrementalCopy } from "../../rules/copy.ts";
import { refuseByTags } from "../../rules/tag-expression.ts";
import { refuseByTier } from "../../rules/tier.ts";
import type { View } from "../../store/store.ts";
import { admitToState } from "./admit.ts";
import type { BlobRead } from "./context.ts";
import type { Blob } from "./records.ts";

export interface FindSource extends Omit<BlobRead, "leaseId"> {
  readonly role: SourceRole;
  /** Whether its tags are wanted, too. */
  readonly withTags: boolean;
  /** Whether it may be archived. */
  readonly fromArchive: boolean;
}

/** A blob, or one of its other states, to copy from: who may read it may copy it. */
export function findSource(view: View, asked: FindSource): Blob & { isArchived: boolean } {
  const { container, blob, isCurrent } = admitToState(view, asked, BLOB_NEEDS.getBlob);
  const { ifTags } = asked.conditions;
  if (asked.withTags || ifTags !== null) {
    refuse(refuseByAccess(asked.access, BLOB_NEEDS.getBlobTags, container, view.now()));
  }
  refuse(refuseSourceByConditions(blob, asked.conditions, asked.role));
  if (ifTags !== null) refuse(refuseByTags(blob.tags, ifTags));
  // Its bytes are not here yet, whatever it looks like.
  refuse(refuseByPendingCopy(blob.copy));
  if (isCurrent) refuse(refuseOnIncrementalCopy(blob.copy));
  const refused = refuseByTier(blob.tier, view.now());
  const isArchived = refused === "BlobArchived" && asked.fromArchive;
  if (!isArchived) refuse(refused);
  return { ...blob, isArchived };
}
