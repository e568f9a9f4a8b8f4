import { BodyBudget } from "../../base/body-budget.ts";
import type { Bytes } from "../../base/bytes.ts";
import { fairQueue } from "../../base/fair-queue.ts";
import { keyAfter } from "../../base/keys.ts";
import { FILE_NEEDS } from "../../rules/file-needs.ts";
import { unlessDamaged, type View } from "../../store/store.ts";
import { admitToDirectory } from "./admit.ts";
import type { FileContext, PathAsked } from "./context.ts";
import { pendingIn } from "./opens.ts";
import { TreeEntries } from "./tree-entries.ts";
import {
  type Directory,
  entryKey,
  entryKeyPrefix,
  type ListedItem,
  readListed,
} from "./tree-records.ts";

export interface ListDirectoriesAndFiles extends PathAsked {
  /** Compared without case, like all names. */
  readonly prefix: string;
  /** The last name of the previous list; "" to begin with the first. */
  readonly after: string;
  readonly resultsMax: number;
}

/** A part of the answer, in order. */
export interface ListedItems {
  /** The directory that is listed. */
  readonly directory: Directory;
  readonly items: readonly ListedFile[];
  /** The name after which the list continues; null at its end. */
  readonly next: string | null;
}

/** A file or a directory; only files have a content. */
export interface ListedFile {
  readonly item: ListedItem;
  readonly isDirectory: boolean;
}

/** Entries of one body. A long list takes several: each sees one state, and no writer waits. */
const PAGE_ITEMS_MAX = 250;
/** Pages in a row without a result. A longer search continues with the client's next request. */
const EMPTY_PAGES_MAX = 100;

/** Lists page by page, so that only one page is in memory. There is always a first page. */
export async function* listDirectoriesAndFiles(
  context: FileContext,
  asked: ListDirectoriesAndFiles,
): AsyncGenerator<ListedItems> {
  let left = asked.resultsMax;
  let after: string | null = asked.after;
  for (let empty = 0; empty < EMPTY_PAGES_MAX && left > 0 && after !== null; ) {
    const behind: string = after;
    const room = Math.min(left, PAGE_ITEMS_MAX);
    await fairQueue.next();
    const page: ListedItems = await context.store.read((view) =>
      listPage(view, asked, behind, room),
    );
    yield page;
    left -= page.items.length;
    after = page.next;
    if (page.items.length === 0) empty++;
  }
}

function listPage(
  view: View,
  asked: ListDirectoriesAndFiles,
  after: string,
  room: number,
): ListedItems {
  const { listDirectoriesAndFiles: need } = FILE_NEEDS;
  const { tree, directory } = admitToDirectory(view, asked, need);
  const prefix = entryKeyPrefix(tree, directory.id, asked.prefix);
  const behind = keyAfter(entryKey(tree, directory.id, after));
  const from = after === "" ? prefix : later(prefix, behind);
  const entries = new TreeEntries(view, tree, from, keyAfter(prefix));
  const isPending = pendingIn(view, tree, directory.id);
  const items: ListedFile[] = [];
  const budget = new BodyBudget();
  for (;;) {
    const entry = entries.next(room - items.length + 1);
    if (entry === null) return { directory, items, next: entries.stoppedAt };
    if (isPending(entry.id)) continue;
    const last = items.at(-1);
    if (last !== undefined && (items.length === room || budget.isSpent)) {
      return { directory, items, next: last.item.name };
    }
    const item = unlessDamaged(() => readListed(view, tree, entry, budget));
    if (item !== null) items.push({ item, isDirectory: entry.isDirectory });
  }
}

function later(one: Bytes, other: Bytes): Bytes {
  return one.compare(other) > 0 ? one : other;
}
