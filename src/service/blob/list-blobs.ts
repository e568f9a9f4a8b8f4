import type { Bytes } from "../../base/bytes.ts";
import { fairQueue } from "../../base/fair-queue.ts";
import { refuse } from "../../base/fault.ts";
import { key, keyAfter, keyOfTextPrefix, type Space } from "../../base/keys.ts";
import { judgeByAccess } from "../../rules/access.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import type { View } from "../../store/store.ts";
import { admitToContainer } from "./admit.ts";
import type { BlobContext } from "./context.ts";
import { listTreePage } from "./list-tree.ts";
import {
  type ListBlobs,
  ListedBlob,
  type ListedItem,
  type ListedPage,
  type ListPosition,
} from "./listed-blob.ts";
import { ListedRevisions, type Passed } from "./listed-revisions.ts";
import { type Container, CURRENT } from "./records.ts";

/**
 * Items per store read; each read sees one consistent state. Small pages are short-lived, which
 * saves more garbage collection than the extra reads cost.
 */
const PAGE_ITEMS_MAX = 250;
/** Empty pages per request. A list of few among many hidden revisions takes several requests. */
const EMPTY_PAGES_MAX = 100;

/** Yields the list page by page, so that only one page is in memory. Yields at least one page. */
export async function* listBlobs(
  context: BlobContext,
  asked: ListBlobs,
): AsyncGenerator<ListedPage> {
  let left = asked.resultsMax;
  let after = asked.after;
  let pageItems = PAGE_ITEMS_MAX;
  for (let empty = 0; empty < EMPTY_PAGES_MAX && left > 0; ) {
    const room = Math.min(left, pageItems);
    await fairQueue.next();
    const page = await context.store.read((view) => listPage(view, asked, after, room));
    yield page;
    left -= page.items.length;
    after = page.next;
    if (after === null) return;
    if (page.items.length === 0) empty++;
    // If items are large, the next store read does not read many more than it lists.
    else pageItems = Math.min(PAGE_ITEMS_MAX, 2 * page.items.length);
  }
}

function listPage(
  view: View,
  asked: ListBlobs,
  after: ListPosition | null,
  room: number,
): ListedPage {
  const container = admitToContainer(view, asked, BLOB_NEEDS.listBlobs, true);
  if (asked.tags) {
    refuse(judgeByAccess(asked.access, BLOB_NEEDS.getBlobTags, container, view.now()));
  }
  if (container.isHierarchical) return listTreePage(view, container, asked, after, room);
  const revisions = new ListedRevisions(view, container, asked.kinds, {
    startOf: (space) => startOf(space, container, asked, after),
    endOf: (space) => endOf(space, container, asked),
    mayJump: asked.delimiter !== "",
  });
  const nowMs = view.now();
  const items: ListedItem[] = [];
  while (items.length < room) {
    if (revisions.isEnough && items.length > 0)
      return { items, next: positionBehind(items.at(-1)) };
    const head = revisions.head(room - items.length + 1);
    if (head === null) return { items, next: positionAt(revisions.stoppedAt) };
    const prefix = commonPrefix(head.name, asked);
    if (prefix === null) {
      items.push(new ListedBlob(head, nowMs));
      revisions.advance();
    } else {
      items.push({ kind: "prefix", name: prefix, blob: null });
      revisions.jumpPast(prefix);
    }
  }
  const isEnd = revisions.head(1) === null && revisions.stoppedAt === null;
  return { items, next: isEnd ? null : positionBehind(items.at(-1)) };
}

function positionAt(passed: Passed | null): ListPosition | null {
  return passed && { behind: "revision", text: passed.name, stamp: passed.stamp };
}

function positionBehind(last: ListedItem | undefined): ListPosition | null {
  if (last === undefined) return null;
  const { kind, name: text } = last;
  if (kind === "prefix") return { behind: "prefix", text };
  return last.stamp === CURRENT
    ? { behind: "name", text }
    : { behind: "revision", text, stamp: last.stamp };
}

function commonPrefix(name: string, { prefix, delimiter }: ListBlobs): string | null {
  if (delimiter === "") return null;
  const at = name.indexOf(delimiter, prefix.length);
  return at < 0 ? null : name.slice(0, at + delimiter.length);
}

/** The greatest of the keys where the list may begin. */
function startOf(
  space: Space,
  { id }: Container,
  asked: ListBlobs,
  after: ListPosition | null,
): Bytes {
  const starts = [
    keyOfTextPrefix(space, [id], asked.prefix),
    keyOfTextPrefix(space, [id], asked.startFrom),
  ];
  if (after?.behind === "name") starts.push(keyAfter(key(space, id, after.text)));
  if (after?.behind === "revision") starts.push(keyAfter(key(space, id, after.text, after.stamp)));
  if (after?.behind === "prefix") starts.push(keyAfter(keyOfTextPrefix(space, [id], after.text)));
  return starts.reduce((last, start) => (start.compare(last) > 0 ? start : last));
}

/** The least of the keys where the list ends. */
function endOf(space: Space, { id }: Container, { prefix, endBefore }: ListBlobs): Bytes {
  const end = keyAfter(keyOfTextPrefix(space, [id], prefix));
  if (endBefore === "") return end;
  const before = keyOfTextPrefix(space, [id], endBefore);
  return before.compare(end) < 0 ? before : end;
}
