import { refuse } from "../../base/fault.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import { judgeWriteByConditions } from "../../rules/conditions.ts";
import { judgeByPendingCopy } from "../../rules/copy.ts";
import { judgeWriteByLease, leaseAfterWrite } from "../../rules/lease.ts";
import { judgeTags, TAGS_RULE, type Tags } from "../../rules/tags.ts";
import { admitToRevision, requireTagConditions } from "./admit.ts";
import type { BlobContext, BlobRead } from "./context.ts";
import { requireFlat } from "./hierarchical-limits.ts";
import { amendRevision } from "./history.ts";

/** Sets the tags of the current blob or of a version. */
export interface SetBlobTags extends BlobRead {
  /** Replaces all tags. */
  readonly tags: Tags;
}

/** Tags are not part of a blob: its ETag and modification time stay. */
export async function setBlobTags(context: BlobContext, asked: SetBlobTags): Promise<void> {
  await context.store.transact((tx) => {
    const found = admitToRevision(tx, asked, BLOB_NEEDS.setBlobTags);
    const { container, blob } = found;
    requireFlat(container, "tags");
    refuse(judgeTags(asked.tags), TAGS_RULE);
    refuse(judgeWriteByConditions(blob, asked.conditions));
    requireTagConditions(tx, asked, container, blob);
    refuse(judgeWriteByLease(blob.lease, asked.leaseId, tx.now(), "Blob"));
    refuse(judgeByPendingCopy(blob.copy));
    const lease = leaseAfterWrite(blob.lease, tx.now());
    amendRevision(context, tx, found, asked.at.revision, { ...blob, tags: asked.tags, lease });
  });
}
