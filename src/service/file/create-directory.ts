import { Fault } from "../../base/fault.ts";
import { FILE_ATTRIBUTES } from "../../rules/file-attributes.ts";
import { FILE_NEEDS } from "../../rules/file-needs.ts";
import { admitToName } from "./admit.ts";
import type { FileContext, PathAsked } from "./context.ts";
import { type ItemSettings, timesOfNew } from "./item-settings.ts";
import type { Metadata } from "./records.ts";
import { type Directory, readDirectory, writeDirectory, writeEntry } from "./tree-records.ts";
import { nextVersion } from "./version.ts";

export interface CreateDirectory extends PathAsked {
  readonly settings: ItemSettings;
  readonly metadata: Metadata;
}

export async function createDirectory(
  context: FileContext,
  asked: CreateDirectory,
): Promise<Directory> {
  return context.store.transact((tx) => {
    const { tree, parent, name, entry } = admitToName(tx, asked, FILE_NEEDS.createDirectory);
    if (entry !== null) {
      throw new Fault(entry.isDirectory ? "ResourceAlreadyExists" : "ResourceTypeMismatch");
    }
    const { etag, modifiedMs } = nextVersion(tx, null);
    const directory: Directory = {
      since: etag,
      id: etag,
      parent,
      name,
      etag,
      modifiedMs,
      attributes: (asked.settings.attributes ?? 0) | FILE_ATTRIBUTES.Directory,
      ...timesOfNew(asked.settings, etag),
      permissionKey: readDirectory(tx, tree, parent).permissionKey,
      metadata: asked.metadata,
    };
    writeDirectory(tx, tree, directory);
    writeEntry(tx, tree, parent, name, { since: etag, id: etag, isDirectory: true });
    return directory;
  });
}
