import { FILE_NEEDS } from "../../rules/file-needs.ts";
import { admitToDirectory } from "./admit.ts";
import type { FileContext, PathAsked } from "./context.ts";
import type { Metadata } from "./records.ts";
import { type Directory, writeDirectory } from "./tree-records.ts";
import { nextDirectoryVersion } from "./version.ts";

export interface SetDirectoryMetadata extends PathAsked {
  readonly metadata: Metadata;
}

export async function setDirectoryMetadata(
  context: FileContext,
  asked: SetDirectoryMetadata,
): Promise<Directory> {
  return context.store.transact((tx) => {
    const { tree, directory } = admitToDirectory(tx, asked, FILE_NEEDS.setDirectoryMetadata);
    const version = nextDirectoryVersion(tx, tree, directory);
    const changed = { ...directory, ...version, metadata: asked.metadata };
    writeDirectory(tx, tree, changed);
    return changed;
  });
}
