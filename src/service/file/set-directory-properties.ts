import { FILE_NEEDS } from "../../rules/file-needs.ts";
import { type VersionPast, versionAsOf } from "../shared/past.ts";
import { admitToDirectory } from "./admit.ts";
import type { FileContext, PathAsked } from "./context.ts";
import { changedSettings, type ItemSettings } from "./item-settings.ts";
import { type Directory, writeDirectory } from "./tree-records.ts";
import { nextDirectoryVersion } from "./version.ts";

export interface SetDirectoryProperties extends PathAsked {
  readonly settings: ItemSettings;
  /** What an import knows of it. */
  readonly past?: VersionPast | null;
}

export async function setDirectoryProperties(
  context: FileContext,
  asked: SetDirectoryProperties,
): Promise<Directory> {
  return context.store.transact((tx) => {
    const { tree, directory } = admitToDirectory(tx, asked, FILE_NEEDS.setDirectoryProperties);
    const version = nextDirectoryVersion(tx, tree, directory);
    const changed: Directory = {
      ...directory,
      ...versionAsOf(tx, asked, version),
      ...changedSettings(tx, tree, directory, asked.settings, version),
    };
    writeDirectory(tx, tree, changed);
    return changed;
  });
}
