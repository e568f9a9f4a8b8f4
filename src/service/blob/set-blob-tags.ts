import { refuse } from "../../base/fault.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import { judgeWriteByConditions } from "../../rules/conditions.ts";
import { judgeByPendingCopy } from "../../rules/copy.ts";
import { judgeWriteByLease, leaseAfterWrite } from "../../rules/lease.ts";
import { judgeTags, TAGS_RULE, type Tags } from "../../rules/tags.ts";
import { admitToRevision, refuseByTagsOf } from "./admit.ts";
import type { BlobContext, BlobRead } from "./context.ts";
import { amendRevision } from "./history.ts";

/** Of the current blob or of a version. */
export interface SetBlobTags extends BlobRead {
  /** All of them: what is not here is gone. */
  readonly tags: Tags;
}

/** Tags are about a blob, not of it: its ETag and its time stay. */
export async function setBlobTags(context: BlobContext, asked: SetBlobTags): Promise<void> {
  await context.store.transact((tx) => {
    const found = admitToRevision(tx, asked, BLOB_NEEDS.setBlobTags);
    const { container, blob } = found;
    refuse(judgeTags(asked.tags), TAGS_RULE);
    refuse(judgeWriteByConditions(blob, asked.conditions));
    refuseByTagsOf(tx, asked, container, blob);
    refuse(judgeWriteByLease(blob.lease, asked.leaseId, tx.now(), "Blob"));
    refuse(judgeByPendingCopy(blob.copy));
    const lease = leaseAfterWrite(blob.lease, tx.now());
    amendRevision(tx, asked.at, found, { ...blob, tags: asked.tags, lease });
  });
}
