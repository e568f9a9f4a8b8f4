import { Fault } from "../../base/fault.ts";
import { isReadOnly } from "../../rules/file-attributes.ts";
import type { Contents } from "../../store/contents.ts";
import type { Transaction, View } from "../../store/store.ts";
import { dropCache } from "./caches.ts";
import type { Tree } from "./kept-records.ts";
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
 * A handle goes, and with it the locks it holds. What it or another one wanted deleted goes with
 * the last handle, and is out of reach until then.
 */
export function endHandle(
  tx: Transaction,
  contents: Contents,
  tree: Tree,
  item: OpenItem,
  id: HandleId,
  handle: Handle,
): void {
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
}

/** What never goes with a handle: read-only items and the root. */
export function refuseEndOf(item: Directory): void {
  if (isReadOnly(item.attributes)) throw new Fault("ReadOnlyAttribute");
  if (item.id === ROOT_ID) throw new Fault("DirectoryNotEmpty");
}

/** What may not be marked for deletion; that includes directories in use. */
export function refuseDeletion(
  view: View,
  tree: Tree,
  item: Directory,
  isDirectory: boolean,
): void {
  refuseEndOf(item);
  if (isDirectory && hasEntries(view, tree, item.id)) throw new Fault("DirectoryNotEmpty");
}

/** From now on nobody opens it, and no list shows it. */
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

/** A directory stays while there is something in it. */
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

/** The record of what is open. */
export function readItem(
  view: View,
  tree: Tree,
  { id }: OpenItem,
  { isDirectory }: Pick<Handle, "isDirectory">,
): Directory | File {
  return isDirectory ? readDirectory(view, tree, id) : readFile(view, tree, id);
}
