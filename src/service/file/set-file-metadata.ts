import { admitFileUpdate } from "./admit.ts";
import type { FileAsked, FileContext } from "./context.ts";
import type { Metadata } from "./records.ts";
import { type File, writeFile } from "./tree-records.ts";
import { nextFileVersion } from "./version.ts";

export interface SetFileMetadata extends FileAsked {
  readonly metadata: Metadata;
}

export async function setFileMetadata(context: FileContext, asked: SetFileMetadata): Promise<File> {
  return context.store.transact((tx) => {
    const { tree, file } = admitFileUpdate(tx, asked, "setFileMetadata");
    const version = nextFileVersion(tx, tree, context.contents, file);
    const changed = { ...file, ...version, metadata: asked.metadata };
    writeFile(tx, tree, changed);
    return changed;
  });
}
