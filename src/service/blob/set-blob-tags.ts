import { refuse } from "../../base/fault.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import { refuseWriteByConditions } from "../../rules/conditions.ts";
import { refuseByPendingCopy } from "../../rules/copy.ts";
import { leaseAfterWrite, refuseWriteByLease } from "../../rules/lease.ts";
import { refuseTags, TAGS_RULE, type Tags } from "../../rules/tags.ts";
import { admitToState, refuseByTagsOf } from "./admit.ts";
import type { BlobContext, BlobRead } from "./context.ts";
import { amendState } from "./history.ts";

/** Of the current blob or of a version. */
export interface SetBlobTags extends BlobRead {
  /** All of them: what is not here is gone. */
  readonly tags: Tags;
}

/** Tags are about a blob, not of it: its ETag and its time stay. */
export async function setBlobTags(context: BlobContext, asked: SetBlobTags): Promise<void> {
  await context.store.transact((tx) => {
    const found = admitToState(tx, asked, BLOB_NEEDS.setBlobTags);
    const { container, blob } = found;
    refuse(refuseTags(asked.tags), TAGS_RULE);
    refuse(refuseWriteByConditions(blob, asked.conditions));
    refuseByTagsOf(tx, asked, container, blob);
    refuse(refuseWriteByLease(blob.lease, asked.leaseId, tx.now(), "Blob"));
    refuse(refuseByPendingCopy(blob.copy));
    const lease = leaseAfterWrite(blob.lease, tx.now());
    amendState(tx, asked.at, found, { ...blob, tags: asked.tags, lease });
  });
}
