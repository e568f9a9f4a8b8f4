import { FILE_NEEDS } from "../../rules/file-needs.ts";
import { admitShareUpdate } from "./admit.ts";
import type { FileContext, ShareUse } from "./context.ts";
import { deleteShare as deleteRecord } from "./records.ts";

/** The name is free at once, whatever the share held: the sweeper removes that. */
export async function deleteShare(context: FileContext, asked: ShareUse): Promise<void> {
  await context.store.transact((tx) => {
    const share = admitShareUpdate(tx, asked, FILE_NEEDS.deleteShare);
    deleteRecord(tx, asked.at, share);
  });
}
