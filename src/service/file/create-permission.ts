import { FILE_NEEDS } from "../../rules/file-needs.ts";
import { admitToShare, treeOf } from "./admit.ts";
import type { FileContext, ShareAsked } from "./context.ts";
import { writePermission } from "./permissions.ts";

export interface CreatePermission extends ShareAsked {
  readonly sddl: string;
}

/** Returns the key by which files and directories of the share can refer to the permission. */
export async function createPermission(
  context: FileContext,
  asked: CreatePermission,
): Promise<string> {
  return context.store.transact((tx) => {
    const share = admitToShare(tx, asked, FILE_NEEDS.createPermission);
    return writePermission(tx, treeOf(share), asked.sddl);
  });
}
