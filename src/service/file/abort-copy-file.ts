import { refuse } from "../../base/fault.ts";
import { judgeAbortOfCopy } from "../../rules/copy.ts";
import { judgeWriteByLease } from "../../rules/lease.ts";
import type { StoredCopy } from "../shared/copy-field.ts";
import { admitToFile } from "./admit.ts";
import type { FileAsked } from "./context.ts";
import { type CopyContext, writeEnd } from "./fetch-copy.ts";
import { deletePendingCopy } from "./pending-copies.ts";
import { addUsage } from "./share-usage.ts";

export interface AbortCopyFile extends FileAsked {
  readonly copyId: string;
}

/** Ends a pending copy. Its target stays, with length 0. */
export async function abortCopyFile(context: CopyContext, asked: AbortCopyFile): Promise<void> {
  const { copyId } = asked;
  const { maps } = context.contents;
  await context.store.transact((tx) => {
    const { tree, file } = admitToFile(tx, asked, "abortCopyFile");
    refuse(judgeWriteByLease(file.lease, asked.leaseId, tx.now(), "File"));
    refuse(judgeAbortOfCopy(file.copy, copyId));
    addUsage(tx, tree.share, file.id, -file.content.length);
    writeEnd(context, tx, tree, file, file.copy as StoredCopy, {
      status: "aborted",
      description: "",
      content: (_tx, content) => maps.resize(tx, content, 0),
    });
    deletePendingCopy(tx, copyId);
  });
  context.copies.cancel(copyId);
}
