import { Fault } from "../../base/fault.ts";
import { isReadOnly } from "../../rules/file-attributes.ts";
import type { Contents } from "../../store/contents.ts";
import type { Transaction, View } from "../../store/store.ts";
import type { CacheOwner } from "./cache-owner.ts";
import { dropCache } from "./caches.ts";
import {
  deleteHandle,
  type Handle,
  type HandleId,
  type OpenItem,
  type Opens,
  pendingKey,
  readLocks,
  readOpens,
  writeOpens,
  writePending,
} from "./open-records.ts";
import { withoutOpen } from "./opens.ts";
import type { Tree } from "./preserved-records.ts";
import {
  type Directory,
  type File,
  hasEntries,
  ROOT_ID,
  readDirectory,
  readFile,
  removeDirectory,
  removeFile,
} from "./tree-records.ts";

/**
 * Removes a handle and its locks. An item that is pending deletion is deleted with its last handle,
 * and cannot be opened until then. Returns the owner whose caching ended with its last handle; null if
 * there was none, or if other handles share it.
 */
export function endHandle(
  tx: Transaction,
  contents: Contents,
  tree: Tree,
  item: OpenItem,
  id: HandleId,
  handle: Handle,
): CacheOwner | null {
  const opens = readOpens(tx, item);
  if (opens === null) throw new Error(`handle ${id} is open and its file is not`);
  deleteHandle(tx, item, id, handle);
  const locks = opens.locks === 0 ? [] : readLocks(tx, item, opens.locks, id);
  for (const { place } of locks) tx.delete(place);
  const deletes =
    opens.isDeletePending || (handle.deletesOnClose && isDeletable(tx, tree, handle, item));
  const caches = dropCache(tx, item, handle.cache, handle);
  const left = withoutOpen(opens, handle, locks.length, caches);
  if (left === null) {
    writeOpens(tx, item, null);
    if (deletes) removeItem(tx, contents, tree, item, handle);
  } else if (deletes) {
    markPending(tx, tree, item, handle, left);
  } else {
    writeOpens(tx, item, left);
  }
  return caches > 0 ? handle.cache : null;
}

/** Checks that an item may be deleted with its handle: not the root, not read-only. */
export function requireDeletable(item: Directory): void {
  if (isReadOnly(item.attributes)) throw new Fault("ReadOnlyAttribute");
  if (item.id === ROOT_ID) throw new Fault("DirectoryNotEmpty");
}

/** Checks that an item may be marked for deletion: not a directory that is in use, either. */
export function requireMarkable(
  view: View,
  tree: Tree,
  item: Directory,
  isDirectory: boolean,
): void {
  requireDeletable(item);
  if (isDirectory && hasEntries(view, tree, item.id)) throw new Fault("DirectoryNotEmpty");
}

/** Marks an item as pending deletion: it cannot be opened, and lists leave it out. */
export function markPending(
  tx: Transaction,
  tree: Tree,
  item: OpenItem,
  handle: Pick<Handle, "isDirectory">,
  opens: Opens,
): void {
  const { modes, locks, caches } = opens;
  writeOpens(tx, item, { modes, locks, isDeletePending: true, caches });
  writePending(tx, pendingKey(item.share, readItem(tx, tree, item, handle).parent, item.id));
}

/** A directory is deletable only if it is empty. */
function isDeletable(
  tx: Transaction,
  tree: Tree,
  { isDirectory }: Handle,
  { id }: OpenItem,
): boolean {
  return !isDirectory || !hasEntries(tx, tree, id);
}

function removeItem(
  tx: Transaction,
  contents: Contents,
  tree: Tree,
  item: OpenItem,
  handle: Handle,
): void {
  const removed = readItem(tx, tree, item, handle);
  tx.delete(pendingKey(item.share, removed.parent, item.id));
  if (handle.isDirectory) removeDirectory(tx, tree, removed);
  else removeFile(tx, tree, contents, removed as File);
}

/** Reads the record of the open item. */
export function readItem(
  view: View,
  tree: Tree,
  { id }: OpenItem,
  { isDirectory }: Pick<Handle, "isDirectory">,
): Directory | File {
  return isDirectory ? readDirectory(view, tree, id) : readFile(view, tree, id);
}
