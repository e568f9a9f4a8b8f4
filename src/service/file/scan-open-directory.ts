import { BodyBudget } from "../../base/body-budget.ts";
import { fairQueue } from "../../base/fair-queue.ts";
import { Fault, refuse } from "../../base/fault.ts";
import { key, keyAfter, SPACE } from "../../base/keys.ts";
import { judgePattern, matchesPattern } from "../../rules/name-pattern.ts";
import { unlessDamaged, type View } from "../../store/store.ts";
import { admitToReadHandle, type HandleAsked } from "./admit-handle.ts";
import type { FileContext } from "./context.ts";
import type { Tree } from "./preserved-records.ts";
import { TreeEntries } from "./tree-entries.ts";
import { entryKey, type ListedItem, readListed } from "./tree-records.ts";

export interface ScanOpenDirectory extends HandleAsked {
  /** With `*` and `?`, and their DOS variants. */
  readonly pattern: string;
  /** The last name of the previous scan; null to begin with the first. */
  readonly after: string | null;
  readonly resultsMax: number;
}

export interface ScannedItem {
  readonly isDirectory: boolean;
  readonly item: ListedItem;
}

export interface ScanOpenDirectoryDone {
  readonly items: readonly ScannedItem[];
  /** The last name that was looked at, matching or not; null at the end. */
  readonly next: string | null;
}

/** Names that one body looks at. The client asks again for more. */
const BODY_NAMES_MAX = 500;

export async function scanOpenDirectory(
  context: FileContext,
  asked: ScanOpenDirectory,
): Promise<ScanOpenDirectoryDone> {
  refuse(judgePattern(asked.pattern));
  await fairQueue.next();
  return context.store.read((view) => {
    const { tree, item, isDirectory } = admitToReadHandle(view, asked);
    if (!isDirectory) throw new Fault("ResourceTypeMismatch");
    return scan(view, tree, item.id, asked);
  });
}

function scan(
  view: View,
  tree: Tree,
  directory: bigint,
  { pattern, after, resultsMax }: ScanOpenDirectory,
): ScanOpenDirectoryDone {
  const all = key(SPACE.directoryEntry, tree.share, directory);
  const from = after === null ? all : keyAfter(entryKey(tree, directory, after));
  const limit = Math.min(resultsMax, BODY_NAMES_MAX);
  const entries = new TreeEntries(view, tree, from, keyAfter(all));
  let next: string | null = null;
  const items: ScannedItem[] = [];
  const budget = new BodyBudget();
  for (let left = limit; left > 0 && !budget.isSpent; left--) {
    const entry = entries.next(left);
    if (entry === null) return { items, next: entries.stoppedAt };
    const item = unlessDamaged(() => readListed(view, tree, entry, budget));
    if (item === null) continue;
    if (matchesPattern(item.name, pattern)) {
      items.push({ isDirectory: entry.isDirectory, item });
    }
    next = item.name;
  }
  return { items, next };
}
