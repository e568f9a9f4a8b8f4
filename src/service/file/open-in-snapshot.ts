import { Fault } from "../../base/fault.ts";
import { FILE_NEEDS } from "../../rules/file-needs.ts";
import type { View } from "../../store/store.ts";
import { admitToName, admitToTree } from "./admit.ts";
import type { PathAsked } from "./context.ts";
import type { Tree } from "./preserved-records.ts";
import {
  type Directory,
  type DirectoryEntry,
  type File,
  ROOT_ID,
  readDirectory,
  readFile,
} from "./tree-records.ts";

const ROOT: Pick<DirectoryEntry, "id" | "isDirectory"> = { id: ROOT_ID, isDirectory: true };

export interface SnapshotItemAsked extends PathAsked {
  /** The required kind; null accepts both. */
  readonly kind: "file" | "directory" | null;
}

export interface SnapshotItem {
  readonly tree: Tree;
  readonly isDirectory: boolean;
  readonly item: Directory | File;
}

/** Opens an item of a snapshot for reading. It conflicts with nothing, so no handle is recorded. */
export function openInSnapshot(view: View, asked: SnapshotItemAsked): SnapshotItem {
  const { tree, entry } =
    asked.at.path.length === 0
      ? { tree: admitToTree(view, asked, FILE_NEEDS.getFile).tree, entry: ROOT }
      : admitToName(view, asked, FILE_NEEDS.getFile);
  if (entry === null) throw new Fault("ResourceNotFound");
  const { id, isDirectory } = entry;
  if (asked.kind !== null && isDirectory !== (asked.kind === "directory")) {
    throw new Fault("ResourceTypeMismatch");
  }
  const item = isDirectory ? readDirectory(view, tree, id) : readFile(view, tree, id);
  return { tree, isDirectory, item };
}
