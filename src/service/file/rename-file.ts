import { FILE_NEEDS } from "../../rules/file-needs.ts";
import { admitFileUpdate, admitToName } from "./admit.ts";
import type { FileAsked, FileContext } from "./context.ts";
import { changedSettings } from "./item-settings.ts";
import { moveEntry, type Rename, replaceTarget } from "./rename.ts";
import { type File, writeFile } from "./tree-records.ts";
import { nextFileVersion } from "./version.ts";

export interface RenameFile extends Rename {
  /** Its current path, and its lease id. */
  readonly source: FileAsked;
  /** Null to leave it unchanged. */
  readonly contentType: string | null;
}

/** Renames a file. Its handles, lease and bytes stay with it. */
export async function renameFile(context: FileContext, asked: RenameFile): Promise<File> {
  return context.store.transact((tx) => {
    const need = FILE_NEEDS.renameSource;
    const { tree, file } = admitFileUpdate(tx, asked.source, "renameFile", null, true, need);
    const target = admitToName(tx, asked, FILE_NEEDS.renameFile);
    if (target.entry?.id !== file.id) replaceTarget(context, tx, asked, target);
    const version = nextFileVersion(tx, tree, context.contents, file);
    const moved = { ...file, ...version, parent: target.parent, name: target.name };
    const { properties } = file;
    const renamed: File = {
      ...moved,
      ...changedSettings(tx, tree, moved, asked.settings, version),
      metadata: asked.metadata ?? file.metadata,
      properties: { ...properties, contentType: asked.contentType ?? properties.contentType },
    };
    moveEntry(tx, tree, file, renamed, false);
    writeFile(tx, tree, renamed);
    return renamed;
  });
}
