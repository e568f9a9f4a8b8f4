import { Fault, refuse } from "../../base/fault.ts";
import { key, keyAfter, SPACE } from "../../base/keys.ts";
import { NEEDS_HANDLES } from "../../rules/caching.ts";
import { isReadOnly } from "../../rules/file-attributes.ts";
import { judgeFilePath } from "../../rules/file-name.ts";
import { judgeOpen, RENAME_INTO } from "../../rules/share-mode.ts";
import type { Transaction } from "../../store/store.ts";
import { parentOf } from "./admit.ts";
import { admitToHandle, type HandleAsked } from "./admit-handle.ts";
import { NO_OWNER } from "./cache-owner.ts";
import { requireCachesBroken } from "./caches.ts";
import type { FileContext } from "./context.ts";
import { readItem } from "./end-handle.ts";
import { ItemPaths } from "./item-paths.ts";
import { decodeHandle, placeOfHandleKey, readOpens } from "./open-records.ts";
import type { Tree } from "./preserved-records.ts";
import { moveEntry } from "./rename.ts";
import {
  type Directory,
  type DirectoryEntry,
  type File,
  ROOT_ID,
  readEntry,
  readFile,
  removeFile,
  writeDirectory,
  writeFile,
} from "./tree-records.ts";
import { nextDirectoryVersion, nextFileVersion } from "./version.ts";

export interface RenameOpenItem extends HandleAsked {
  /** The new path, from the root. */
  readonly path: readonly string[];
  /** Whether to replace a file at that path. */
  readonly replaces: boolean;
}

const HANDLES_LOOKED_AT_MAX = 10_000;

/** Moves an open item to another name. Its handles stay open. */
export async function renameOpenItem(context: FileContext, asked: RenameOpenItem): Promise<void> {
  refuse(judgeFilePath(asked.path));
  const name = asked.path.at(-1);
  if (name === undefined) throw new Fault("ResourceAlreadyExists");
  await context.store.transact((tx) => {
    const { tree, item: place, handle, opens } = admitToHandle(tx, asked);
    if (opens.isDeletePending) throw new Fault("DeletePending");
    const item = readItem(tx, tree, place, handle);
    if (item.id === ROOT_ID) throw new Fault("AuthorizationPermissionMismatch");
    requireCachesBroken(tx, place, opens, handle.cache, NEEDS_HANDLES);
    const parent = parentOf(tx, tree, asked.path);
    if (handle.isDirectory && new ItemPaths(tx, tree).isWithin(parent, true, item.id)) {
      throw new Fault("SharingViolation");
    }
    requireOpenTarget(tx, tree, parent);
    if (handle.isDirectory) requireUnused(tx, tree, item.id);
    const entry = readEntry(tx, tree, parent, name);
    if (entry !== null && entry.id !== item.id) makeRoom(context, tx, tree, entry, asked.replaces);
    if (handle.isDirectory) moveDirectory(tx, tree, item, parent, name);
    else moveFile(context, tx, tree, item as File, parent, name);
  });
}

function requireOpenTarget(tx: Transaction, { share }: Tree, id: bigint): void {
  const opens = readOpens(tx, { share, id });
  if (opens !== null) refuse(judgeOpen(opens.modes, RENAME_INTO, opens.isDeletePending));
}

/** Checks that nothing below a directory is open, so that it may move. */
function requireUnused(tx: Transaction, tree: Tree, directory: bigint): void {
  const paths = new ItemPaths(tx, tree);
  const all = key(SPACE.handle, tree.share);
  const handles = tx.range(all, keyAfter(all), { limit: HANDLES_LOOKED_AT_MAX });
  const isBelow = handles.some((entry) => {
    const { id } = placeOfHandleKey(entry.key);
    const { isDirectory } = decodeHandle(entry.value);
    return id !== directory && paths.isWithin(id, isDirectory, directory);
  });
  // One body cannot look at more handles, so the directory counts as used.
  if (isBelow || handles.length === HANDLES_LOOKED_AT_MAX) {
    throw new Fault("AuthorizationPermissionMismatch");
  }
}

/** Removes the item at the new path, if permitted: only a file that no client has open. */
function makeRoom(
  { contents }: FileContext,
  tx: Transaction,
  tree: Tree,
  { id, isDirectory }: DirectoryEntry,
  replaces: boolean,
): void {
  if (!replaces) throw new Fault("ResourceAlreadyExists");
  if (isDirectory) throw new Fault("AuthorizationPermissionMismatch");
  const file = readFile(tx, tree, id);
  const place = { share: tree.share, id };
  const opens = readOpens(tx, place);
  if (opens !== null) requireCachesBroken(tx, place, opens, NO_OWNER, NEEDS_HANDLES);
  const isOpen = opens !== null;
  if (isOpen || isReadOnly(file.attributes)) throw new Fault("AuthorizationPermissionMismatch");
  removeFile(tx, tree, contents, file);
}

function moveDirectory(
  tx: Transaction,
  tree: Tree,
  old: Directory,
  parent: bigint,
  name: string,
): void {
  const moved = { ...old, ...nextDirectoryVersion(tx, tree, old), parent, name };
  writeDirectory(tx, tree, moved);
  moveEntry(tx, tree, old, moved, true);
}

function moveFile(
  { contents }: FileContext,
  tx: Transaction,
  tree: Tree,
  old: File,
  parent: bigint,
  name: string,
): void {
  const moved = { ...old, ...nextFileVersion(tx, tree, contents, old), parent, name };
  writeFile(tx, tree, moved);
  moveEntry(tx, tree, old, moved, false);
}
