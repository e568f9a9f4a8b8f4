import { Fault, refuse } from "../../base/fault.ts";
import { FILE_NEEDS } from "../../rules/file-needs.ts";
import { judgeWriteByLease } from "../../rules/lease.ts";
import type { View } from "../../store/store.ts";
import { admitToDirectory, admitToName } from "./admit.ts";
import type { FileAsked, FileContext } from "./context.ts";
import { changedSettings } from "./item-settings.ts";
import { requireCompatibleOpens, requireNotPending } from "./opens.ts";
import type { Tree } from "./preserved-records.ts";
import { moveEntry, type Rename, replaceTarget } from "./rename.ts";
import { type Directory, ROOT_ID, readDirectory, writeDirectory } from "./tree-records.ts";
import { nextDirectoryVersion } from "./version.ts";

export interface RenameDirectory extends Rename {
  /** Its current path. Directories have no leases, so a lease id is refused. */
  readonly source: FileAsked;
}

/** Moves one entry, whatever the directory contains. */
export async function renameDirectory(
  context: FileContext,
  asked: RenameDirectory,
): Promise<Directory> {
  return context.store.transact((tx) => {
    const { tree, directory } = admitToDirectory(tx, asked.source, FILE_NEEDS.renameSource);
    const target = admitToName(tx, asked, FILE_NEEDS.renameDirectory);
    if (directory.id === ROOT_ID) throw new Fault("InvalidInput", { Reason: "This is the root." });
    refuse(judgeWriteByLease(null, asked.source.leaseId, tx.now(), "File"));
    if (target.entry?.id !== directory.id) replaceTarget(context, tx, asked, target);
    requireCompatibleOpens(tx, tree, directory.id, "renameDirectory");
    requireNotPending(tx, tree, target.parent);
    requireNotWithinItself(tx, tree, directory, target.parent);
    const version = nextDirectoryVersion(tx, tree, directory);
    const moved = { ...directory, ...version, parent: target.parent, name: target.name };
    const renamed: Directory = {
      ...moved,
      ...changedSettings(tx, tree, moved, asked.settings, version),
      metadata: asked.metadata ?? directory.metadata,
    };
    moveEntry(tx, tree, directory, renamed, true);
    writeDirectory(tx, tree, renamed);
    return renamed;
  });
}

function requireNotWithinItself(view: View, tree: Tree, { id }: Directory, parent: bigint): void {
  for (let above = parent; above !== ROOT_ID; above = readDirectory(view, tree, above).parent) {
    if (above !== id) continue;
    throw new Fault("InvalidInput", { Reason: "A directory cannot be moved into itself." });
  }
}
