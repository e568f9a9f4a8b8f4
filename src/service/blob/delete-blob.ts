import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import { admitBlobUpdate } from "./admit.ts";
import type { BlobContext, BlobUse } from "./context.ts";
import { deleteBlob as deleteRecord } from "./records.ts";
import { dropStagedBlocks } from "./staged-blocks.ts";

export interface DeleteBlob extends BlobUse {
  /** Whether the blob goes with its snapshots, or only they go. */
  readonly snapshots: "include" | "only" | null;
}

export async function deleteBlob(context: BlobContext, asked: DeleteBlob): Promise<void> {
  await context.store.transact((tx) => {
    const { container, blob } = admitBlobUpdate(tx, asked, BLOB_NEEDS.deleteBlob);
    // No blob has snapshots yet, so there is nothing else that "only" could mean.
    if (asked.snapshots === "only") return;
    deleteRecord(tx, container, asked.at.blob);
    dropStagedBlocks(tx, container, asked.at.blob);
    context.contents.drop(tx, blob.content);
  });
}
