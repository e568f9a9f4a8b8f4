import { Fault } from "../../base/fault.ts";
import { FILE_NEEDS } from "../../rules/file-needs.ts";
import type { Transaction } from "../../store/store.ts";
import { admitToName, type InDirectory } from "./admit.ts";
import type { FileContext, PathAsked } from "./context.ts";
import { attributesOf, type ItemSettings, timesOfNew } from "./item-settings.ts";
import { requireNotPending } from "./opens.ts";
import { resolvePermission } from "./permissions.ts";
import type { Metadata } from "./records.ts";
import { type Directory, writeDirectory, writeEntry } from "./tree-records.ts";
import { nextVersion } from "./version.ts";

export interface NewDirectory {
  readonly settings: ItemSettings;
  readonly metadata: Metadata;
}

export type CreateDirectory = PathAsked & NewDirectory;

export async function createDirectory(
  context: FileContext,
  asked: CreateDirectory,
): Promise<Directory> {
  return context.store.transact((tx) => {
    const place = admitToName(tx, asked, FILE_NEEDS.createDirectory);
    const { tree, parent, entry } = place;
    if (entry !== null) {
      requireNotPending(tx, tree, entry.id);
      throw new Fault(entry.isDirectory ? "ResourceAlreadyExists" : "ResourceTypeMismatch");
    }
    requireNotPending(tx, tree, parent);
    return makeDirectory(tx, place, asked);
  });
}

export function makeDirectory(
  tx: Transaction,
  { tree, parent, name }: Pick<InDirectory, "tree" | "parent" | "name">,
  { settings, metadata }: NewDirectory,
): Directory {
  const permission = settings.permission ?? { kind: "inherit" };
  const { etag, modifiedMs } = nextVersion(tx, null);
  const directory: Directory = {
    since: etag,
    id: etag,
    parent,
    name,
    etag,
    modifiedMs,
    attributes: attributesOf(settings.attributes ?? 0, true),
    ...timesOfNew(settings, etag),
    permissionKey: resolvePermission(tx, tree, permission, parent, true),
    metadata,
  };
  writeDirectory(tx, tree, directory);
  writeEntry(tx, tree, parent, name, { since: etag, id: etag, isDirectory: true });
  return directory;
}
