import type { Transaction } from "../../store/store.ts";
import type { PathAsked } from "./context.ts";
import type { ItemSettings } from "./item-settings.ts";
import type { Tree } from "./kept-records.ts";
import type { Metadata } from "./records.ts";
import { type Directory, deleteEntry, writeEntry } from "./tree-records.ts";

/** What is asked of a rename; `at` is where it goes, in the same share. */
export interface Rename extends PathAsked {
  /** Whether a file in its way is replaced. */
  readonly replaces: boolean;
  /** Even if that is read-only. */
  readonly ignoresReadOnly: boolean;
  readonly settings: ItemSettings;
  /** Null to leave it as it is. */
  readonly metadata: Metadata | null;
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
