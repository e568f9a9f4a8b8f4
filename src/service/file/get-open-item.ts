import { admitToReadHandle, type HandleAsked } from "./admit-handle.ts";
import type { FileContext } from "./context.ts";
import { readItem } from "./end-handle.ts";
import { ItemPaths } from "./item-paths.ts";
import { readPermission } from "./permissions.ts";
import type { Directory, File } from "./tree-records.ts";

export interface OpenItemFound {
  readonly item: Directory | File;
  readonly isDirectory: boolean;
  /** Its current path, which may differ from the one it was opened by. */
  readonly path: string;
  readonly isDeletePending: boolean;
  /** Of the share that contains it. */
  readonly quotaGib: number;
}

/** The open item as it is now. */
export async function getOpenItem(
  context: FileContext,
  asked: HandleAsked,
): Promise<OpenItemFound> {
  return context.store.read((view) => {
    const { share, tree, item, isDirectory, opens } = admitToReadHandle(view, asked);
    const found = readItem(view, tree, item, { isDirectory });
    return {
      item: found,
      isDirectory,
      path: new ItemPaths(view, tree).pathOf(found),
      isDeletePending: opens?.isDeletePending ?? false,
      quotaGib: share.quotaGib,
    };
  });
}

/** The security descriptor of the open item, as SDDL. */
export async function getOpenPermission(context: FileContext, asked: HandleAsked): Promise<string> {
  return context.store.read((view) => {
    const { tree, item, isDirectory } = admitToReadHandle(view, asked);
    const { permissionKey } = readItem(view, tree, item, { isDirectory });
    return readPermission(view, tree, permissionKey) ?? "";
  });
}
