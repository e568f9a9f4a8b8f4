import { Fault, refuse } from "../../base/fault.ts";
import { judgeWriteByLease } from "../../rules/lease.ts";
import type { Transaction } from "../../store/store.ts";
import { type InDirectory, refuseChange } from "./admit.ts";
import type { FileContext, PathAsked } from "./context.ts";
import type { ItemSettings } from "./item-settings.ts";
import type { Tree } from "./kept-records.ts";
import { ALL_BYTES, refuseByOpens, refusePendingDirectory } from "./opens.ts";
import type { Metadata } from "./records.ts";
import { type Directory, deleteEntry, readFile, removeFile, writeEntry } from "./tree-records.ts";

/** What is asked of a rename; `at` is where it goes, in the same share. */
export interface Rename extends PathAsked {
  /** Whether a file in its way is replaced. */
  readonly replaces: boolean;
  /** Even if that is read-only. */
  readonly ignoresReadOnly: boolean;
  /** Of the file that is replaced. */
  readonly leaseId: string | null;
  readonly settings: ItemSettings;
  /** Null to leave it as it is. */
  readonly metadata: Metadata | null;
}

/** Removes the file that stands in the way, if that is permitted. A directory is never replaced. */
export function replaceTarget(
  { contents }: FileContext,
  tx: Transaction,
  asked: Rename,
  { tree, parent, entry }: InDirectory,
): void {
  refusePendingDirectory(tx, tree, entry?.id ?? parent);
  if (entry === null) {
    refuse(judgeWriteByLease(null, asked.leaseId, tx.now(), "File"));
    return;
  }
  if (entry.isDirectory || !asked.replaces) throw new Fault("ResourceAlreadyExists");
  const old = readFile(tx, tree, entry.id);
  refuseByOpens(tx, tree, old.id, "replaceFile", ALL_BYTES);
  refuseChange(tx, old, asked.leaseId, asked.ignoresReadOnly);
  removeFile(tx, tree, contents, old);
}

/** Nothing but the entry moves: everything else refers to the id. */
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
