import { admitFileUpdate } from "./admit.ts";
import type { FileAsked, FileContext } from "./context.ts";
import { removeFile } from "./tree-records.ts";

export async function deleteFile(context: FileContext, asked: FileAsked): Promise<void> {
  await context.store.transact((tx) => {
    const { tree, file } = admitFileUpdate(tx, asked, "deleteFile");
    removeFile(tx, tree, context.contents, file);
  });
}
