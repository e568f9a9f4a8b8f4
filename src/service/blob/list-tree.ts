import { Fault } from "../../base/fault.ts";
import { callerByAcls, type Need } from "../../rules/access.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import type { View } from "../../store/store.ts";
import type { ContainerAsked } from "./context.ts";
import { componentsOf, findPlace } from "./find-path.ts";
import {
  type ListBlobs,
  ListedBlob,
  type ListedItem,
  type ListedPage,
  type ListPosition,
} from "./listed-blob.ts";
import { type Container, type ContainerId, CURRENT, readBlob } from "./records.ts";
import { type TreeItem, type TreeStart, TreeWalk } from "./tree-walk.ts";

/**
 * Lists blobs of a hierarchical container. Without a delimiter directories are listed like blobs,
 * each before what lies in it; with one, as the prefixes of a single level.
 */
export function listTreePage(
  view: View,
  container: Container,
  asked: ListBlobs,
  after: ListPosition | null,
  room: number,
): ListedPage {
  const isRecursive = asked.delimiter === "";
  if (!isRecursive && asked.delimiter !== "/") throw invalidDelimiter(asked.delimiter);
  const end = asked.prefix.lastIndexOf("/") + 1;
  const path = componentsOf(asked.prefix.slice(0, end))
    .map((name) => `${name}/`)
    .join("");
  const within = findDirectory(view, container, asked, path, BLOB_NEEDS.listBlobs);
  const start = startOf(asked, after, path);
  if (within === null || start === "end") return { items: [], next: null };
  const prefix = asked.prefix.slice(end);
  const { kinds } = asked;
  const caller = callerByAcls(asked.access, BLOB_NEEDS.listBlobs);
  const walk = new TreeWalk(view, { within, path, prefix, isRecursive, start, kinds, caller });
  const nowMs = view.now();
  const items: ListedItem[] = [];
  const listed = (item: TreeItem): ListedItem => {
    const blob = new ListedBlob(item.found, nowMs, item.name);
    const isPrefix = item.directory !== null && !isRecursive;
    return isPrefix ? { kind: "prefix", name: `${item.name}/`, blob } : blob;
  };
  for (;;) {
    const last = items.at(-1);
    if (last !== undefined && walk.isEnough) return { items, next: positionBehind(last) };
    const head = walk.head(room - items.length + 1);
    if (head === null) return { items, next: positionAt(walk.stoppedAt) };
    if (isBehind(head.name, asked.endBefore)) return { items, next: null };
    if (items.length === room) return { items, next: last ? positionBehind(last) : null };
    items.push(listed(head));
    walk.advance(head);
  }
}

function invalidDelimiter(delimiter: string): Fault {
  return new Fault("InvalidQueryParameterValue", {
    QueryParameterName: "delimiter",
    QueryParameterValue: delimiter,
    Reason: "A container with directories has / as its only delimiter.",
  });
}

/** Null if there is no such directory. "" is the root. */
export function findDirectory(
  view: View,
  container: Container,
  { at, access }: ContainerAsked,
  path: string,
  need: Need,
): ContainerId | null {
  const { account, container: name } = at;
  const asked = { at: { account, container: name, blob: path }, access };
  const place = findPlace(view, container, asked, need);
  if (place.name === "") return container;
  const id = readBlob(view, place)?.path?.directoryId ?? 0n;
  return id === 0n ? null : { id };
}

/** Where the list begins: in the directory of its prefix, or "end" if all of that is passed. */
function startOf(
  { startFrom }: ListBlobs,
  after: ListPosition | null,
  path: string,
): TreeStart | null | "end" {
  if (after !== null) return within(treeStartOf(after), path);
  return startFrom === "" ? null : within({ side: "at", path: startFrom }, path);
}

function within(start: TreeStart, path: string): TreeStart | null | "end" {
  if (start.path.startsWith(path)) return start;
  return comparePaths(start.path, path) < 0 ? null : "end";
}

function treeStartOf(after: ListPosition): TreeStart {
  const { behind, text } = after;
  if (behind === "revision") return { side: "revision", path: text, stamp: after.stamp };
  return behind === "name"
    ? { side: "behind", path: text }
    : { side: "past", path: text.slice(0, -1) };
}

function positionAt(stopped: TreeStart | null): ListPosition | null {
  if (stopped === null) return null;
  if (stopped.side === "revision") {
    return { behind: "revision", text: stopped.path, stamp: stopped.stamp };
  }
  return { behind: "prefix", text: `${stopped.path}/` };
}

function positionBehind(last: ListedItem): ListPosition {
  if (last.kind === "prefix") return { behind: "prefix", text: last.name };
  const { name: text, stamp } = last;
  return stamp === CURRENT ? { behind: "name", text } : { behind: "revision", text, stamp };
}

function isBehind(path: string, end: string): boolean {
  return end !== "" && comparePaths(path, end) >= 0;
}

/** Compares name by name, so that what lies in a directory comes right behind it. */
function comparePaths(one: string, other: string): number {
  const [ones, others] = [componentsOf(one), componentsOf(other)];
  for (let depth = 0; depth < Math.min(ones.length, others.length); depth++) {
    const order = Buffer.compare(
      Buffer.from(ones[depth] as string),
      Buffer.from(others[depth] as string),
    );
    if (order !== 0) return order;
  }
  return ones.length - others.length;
}
