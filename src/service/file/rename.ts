import { Fault, refuse } from "../../base/fault.ts";
import { judgeWriteByLease } from "../../rules/lease.ts";
import type { Transaction } from "../../store/store.ts";
import { type InDirectory, requireChangeable } from "./admit.ts";
import type { FileContext, PathAsked } from "./context.ts";
import type { ItemSettings } from "./item-settings.ts";
import { ALL_BYTES, requireCompatibleOpens, requireNotPending } from "./opens.ts";
import type { Tree } from "./preserved-records.ts";
import type { Metadata } from "./records.ts";
import { type Directory, deleteEntry, readFile, removeFile, writeEntry } from "./tree-records.ts";

/** A rename; `at` is the new path, in the same share. */
export interface Rename extends PathAsked {
  /** Whether to replace a file at the new path. */
  readonly replaces: boolean;
  /** Whether to replace even a read-only file. */
  readonly ignoresReadOnly: boolean;
  /** Lease id of the replaced file. */
  readonly leaseId: string | null;
  readonly settings: ItemSettings;
  /** Null to leave it unchanged. */
  readonly metadata: Metadata | null;
}

/** Removes the file at the new path, if permitted. A directory is never replaced. */
export function replaceTarget(
  { contents }: FileContext,
  tx: Transaction,
  asked: Rename,
  { tree, parent, entry }: InDirectory,
): void {
  requireNotPending(tx, tree, entry?.id ?? parent);
  if (entry === null) {
    refuse(judgeWriteByLease(null, asked.leaseId, tx.now(), "File"));
    return;
  }
  if (entry.isDirectory || !asked.replaces) throw new Fault("ResourceAlreadyExists");
  const old = readFile(tx, tree, entry.id);
  requireCompatibleOpens(tx, tree, old.id, "replaceFile", ALL_BYTES);
  requireChangeable(tx, old, asked.leaseId, asked.ignoresReadOnly);
  removeFile(tx, tree, contents, old);
}

/** Moves the entry alone: all other records refer to the item's id. */
export function moveEntry(
  tx: Transaction,
  tree: Tree,
  from: Directory,
  to: Directory,
  isDirectory: boolean,
): void {
  deleteEntry(tx, tree, from.parent, from.name);
  writeEntry(tx, tree, to.parent, to.name, { since: to.since, id: to.id, isDirectory });
}
