import { refuse } from "../../base/fault.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import { judgeAbortOfCopy } from "../../rules/copy.ts";
import { judgeWriteByLease } from "../../rules/lease.ts";
import { admitToBlob } from "./admit.ts";
import type { BlobAsked } from "./context.ts";
import { type CopyContext, writeEnd } from "./fetch-copy.ts";
import { type BlobCopy, deletePendingCopy } from "./records.ts";

export interface AbortCopyBlob extends BlobAsked {
  readonly copyId: string;
  readonly leaseId: string | null;
}

/** Ends a pending copy. The target blob stays, empty. */
export async function abortCopyBlob(context: CopyContext, asked: AbortCopyBlob): Promise<void> {
  const { copyId } = asked;
  await context.store.transact((tx) => {
    const { place, blob } = admitToBlob(tx, asked, BLOB_NEEDS.abortCopyBlob);
    refuse(judgeWriteByLease(blob.lease, asked.leaseId, tx.now(), "Blob"));
    refuse(judgeAbortOfCopy(blob.copy, copyId));
    const content =
      blob.type === "PageBlob" ? context.contents.maps.resize(tx, blob.content, 0) : blob.content;
    const end = { status: "aborted", description: "", content } as const;
    writeEnd(tx, place, blob, blob.copy as BlobCopy, end);
    deletePendingCopy(tx, copyId);
  });
  context.copies.cancel(copyId);
}
