import { Fault } from "../../base/fault.ts";
import { FILE_NEEDS } from "../../rules/file-needs.ts";
import { admitToDirectory } from "./admit.ts";
import type { FileContext, PathAsked } from "./context.ts";
import { requireNotOpen } from "./opens.ts";
import { hasEntries, ROOT_ID, removeDirectory } from "./tree-records.ts";

export async function deleteDirectory(context: FileContext, asked: PathAsked): Promise<void> {
  await context.store.transact((tx) => {
    const { tree, directory } = admitToDirectory(tx, asked, FILE_NEEDS.deleteDirectory);
    if (directory.id === ROOT_ID) throw new Fault("InvalidUri", { Reason: "This is the root." });
    requireNotOpen(tx, tree, directory.id);
    if (hasEntries(tx, tree, directory.id)) throw new Fault("DirectoryNotEmpty");
    removeDirectory(tx, tree, directory);
  });
}
