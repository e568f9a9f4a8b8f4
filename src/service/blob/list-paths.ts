import type { Bytes } from "../../base/bytes.ts";
import { fairQueue } from "../../base/fair-queue.ts";
import { Fault } from "../../base/fault.ts";
import { key, keyAfter, keyOfTextPrefix, SPACE } from "../../base/keys.ts";
import { callerByAcls } from "../../rules/access.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import type { Versioned } from "../../rules/conditions.ts";
import type { View } from "../../store/store.ts";
import { admitToContainer } from "./admit.ts";
import type { BlobContext, ContainerAsked } from "./context.ts";
import { componentsOf, findPlace } from "./find-path.ts";
import { belowOf, kindAt, kindOf } from "./flat-directory.ts";
import { findDirectory } from "./list-tree.ts";
import { FlatPath, type ListedPath, TreePath } from "./listed-path.ts";
import { CURRENT_ONLY } from "./listed-revisions.ts";
import { type Container, decodeBlob, nameOfBlobKey, readBlob } from "./records.ts";
import { type TreeStart, TreeWalk } from "./tree-walk.ts";

export interface ListPaths extends ContainerAsked {
  /** The directory whose paths are listed; "" for the root. */
  readonly directory: string;
  /** Whether to list what lies in subdirectories, too. */
  readonly isRecursive: boolean;
  /** The first path to list, relative to the directory; "" for no such bound. */
  readonly beginFrom: string;
  /** Where the previous request's list ended. */
  readonly after: string | null;
  readonly resultsMax: number;
}

/** A part of the list, in order. */
export interface ListedPaths {
  readonly container: Versioned;
  readonly items: readonly ListedPath[];
  /** Where the list continues after these items; null if it is complete. */
  readonly next: string | null;
}

/** Items per store read; each read sees one consistent state. */
const PAGE_ITEMS_MAX = 250;

/** Yields the list page by page, so that only one page is in memory. Yields at least one page. */
export async function* listPaths(
  context: BlobContext,
  asked: ListPaths,
): AsyncGenerator<ListedPaths> {
  let after = asked.after;
  for (let left = asked.resultsMax; left > 0; ) {
    await fairQueue.next();
    const room = Math.min(left, PAGE_ITEMS_MAX);
    const page = await context.store.read((view) => listPage(view, asked, after, room));
    yield page;
    after = page.next;
    if (after === null) return;
    left -= page.items.length;
  }
}

function listPage(view: View, asked: ListPaths, after: string | null, room: number): ListedPaths {
  const container = admitToContainer(view, asked, BLOB_NEEDS.listPaths, true);
  if (container.isHierarchical) return listTree(view, container, asked, after, room);
  if (asked.directory !== "" && after === null) requireDirectory(view, container, asked);
  const prefix = belowOf(asked.directory);
  const end = keyAfter(keyOfTextPrefix(SPACE.blob, [container.id], prefix));
  const items: ListedPath[] = [];
  let from = startOf(container, asked, after);
  let next = after;
  for (;;) {
    const entries = view.range(from, end, { limit: Math.max(1, room - items.length) });
    if (entries.length === 0) return { container, items, next: null };
    if (items.length === room) return { container, items, next };
    for (const entry of entries) {
      const name = nameOfBlobKey(entry.key);
      const slash = asked.isRecursive ? -1 : name.indexOf("/", prefix.length);
      if (slash < 0) {
        const blob = decodeBlob(entry.value);
        items.push(new FlatPath(name, kindOf(blob), blob));
        next = name;
      } else {
        const directory = name.slice(0, slash);
        // A directory with a blob of its own was listed as that.
        const isListed = readBlob(view, { parent: container, name: directory }) !== null;
        if (!isListed) items.push(new FlatPath(directory, "directory", null));
        next = belowOf(directory);
      }
      from = keyBehind(container, next);
      if (slash >= 0) break;
    }
  }
}

function startOf(container: Container, asked: ListPaths, after: string | null): Bytes {
  if (after !== null) return keyBehind(container, after);
  const first = belowOf(asked.directory) + asked.beginFrom;
  return keyOfTextPrefix(SPACE.blob, [container.id], first);
}

/** A position is a path, or a directory with a final slash, behind all that lies in it. */
function keyBehind(container: Container, position: string): Bytes {
  if (!position.endsWith("/")) return keyAfter(key(SPACE.blob, container.id, position));
  return keyAfter(keyOfTextPrefix(SPACE.blob, [container.id], position));
}

function requireDirectory(view: View, container: Container, asked: ListPaths): void {
  const { account, container: name } = asked.at;
  const at = { account, container: name, blob: asked.directory };
  const place = findPlace(view, container, { at, access: asked.access }, BLOB_NEEDS.listPaths);
  if (kindAt(view, place, readBlob(view, place)) !== "directory") throw new Fault("BlobNotFound");
}

/** Lists directories and files of a hierarchical container, each directory before what it holds. */
function listTree(
  view: View,
  container: Container,
  asked: ListPaths,
  after: string | null,
  room: number,
): ListedPaths {
  const { isRecursive, beginFrom } = asked;
  const path = componentsOf(asked.directory)
    .map((name) => `${name}/`)
    .join("");
  const within = findDirectory(view, container, asked, path, BLOB_NEEDS.listPaths);
  if (within === null) throw new Fault("BlobNotFound");
  const start = treeStartOf(path, beginFrom, after);
  const kinds = CURRENT_ONLY;
  const caller = callerByAcls(asked.access, BLOB_NEEDS.listPaths);
  const walk = new TreeWalk(view, { within, path, prefix: "", isRecursive, start, kinds, caller });
  const items: ListedPath[] = [];
  for (;;) {
    const last = items.at(-1);
    if (last !== undefined && walk.isEnough) return { container, items, next: last.name };
    const head = walk.head(room - items.length + 1);
    if (head === null) return { container, items, next: stoppedAt(walk) };
    if (last !== undefined && items.length === room) return { container, items, next: last.name };
    const kind = head.directory === null ? "file" : "directory";
    items.push(new TreePath(head.above, kind, head.found));
    walk.advance(head);
  }
}

/** Positions are those of flat containers: a final slash stands behind all that lies in a path. */
function treeStartOf(path: string, beginFrom: string, after: string | null): TreeStart | null {
  if (after === null) return beginFrom === "" ? null : { side: "at", path: path + beginFrom };
  if (after.endsWith("/")) return { side: "past", path: after.slice(0, -1) };
  return { side: "behind", path: after };
}

function stoppedAt({ stoppedAt }: TreeWalk): string | null {
  return stoppedAt && `${stoppedAt.path}/`;
}
