import { Fault } from "../../base/fault.ts";
import { FILE_NEEDS } from "../../rules/file-needs.ts";
import { admitToShare, treeOf } from "./admit.ts";
import type { FileContext, ShareAsked } from "./context.ts";
import { readPermission } from "./permissions.ts";

export interface GetPermission extends ShareAsked {
  readonly key: string;
}

/** Returns the permission as SDDL. */
export async function getPermission(context: FileContext, asked: GetPermission): Promise<string> {
  return context.store.read((view) => {
    const share = admitToShare(view, asked, FILE_NEEDS.getPermission);
    const sddl = readPermission(view, treeOf(share), asked.key);
    if (sddl === null) throw new Fault("FileInvalidPermissionKey");
    return sddl;
  });
}
