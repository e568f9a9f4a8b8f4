import { Fault } from "../../base/fault.ts";
import { key, keyAfter, SPACE } from "../../base/keys.ts";
import { matchesPattern } from "../../rules/name-pattern.ts";
import type { View } from "../../store/store.ts";
import { admitToHandle, type HandleAsked } from "./admit-handle.ts";
import type { FileContext } from "./context.ts";
import {
  type Directory,
  decodeEntry,
  entryKey,
  type File,
  readDirectory,
  readFile,
} from "./tree-records.ts";

export interface ScanOpenDirectory extends HandleAsked {
  /** With `*` and `?`, and what DOS made of them. */
  readonly pattern: string;
  /** The last name of the scan before; null to begin with the first. */
  readonly after: string | null;
  readonly resultsMax: number;
}

export interface ScannedItem {
  readonly isDirectory: boolean;
  readonly item: Directory | File;
}

export interface ScanOpenDirectoryDone {
  readonly items: readonly ScannedItem[];
  /** The last name that was looked at, whether it matched or not; null if there is none behind it. */
  readonly next: string | null;
}

/** One body looks at so many names; who wants more asks again. */
const BODY_NAMES_MAX = 500;

export async function scanOpenDirectory(
  context: FileContext,
  asked: ScanOpenDirectory,
): Promise<ScanOpenDirectoryDone> {
  return context.store.read((view) => {
    const { tree, item, handle } = admitToHandle(view, asked);
    if (!handle.isDirectory) throw new Fault("ResourceTypeMismatch");
    return scan(view, tree, item.id, asked);
  });
}

function scan(
  view: View,
  tree: Parameters<typeof entryKey>[0],
  directory: bigint,
  { pattern, after, resultsMax }: ScanOpenDirectory,
): ScanOpenDirectoryDone {
  const all = key(SPACE.directoryEntry, tree.share, directory);
  const from = after === null ? all : keyAfter(entryKey(tree, directory, after));
  const limit = Math.min(resultsMax, BODY_NAMES_MAX);
  const entries = view.range(from, keyAfter(all), { limit });
  let next: string | null = null;
  const items: ScannedItem[] = [];
  for (const { value } of entries) {
    const { id, isDirectory } = decodeEntry(value);
    const item = isDirectory ? readDirectory(view, tree, id) : readFile(view, tree, id);
    if (matchesPattern(item.name, pattern)) items.push({ isDirectory, item });
    next = item.name;
  }
  return { items, next: entries.length < limit ? null : next };
}
