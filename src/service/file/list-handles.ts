import { fairQueue } from "../../base/fair-queue.ts";
import { key, keyAfter, SPACE } from "../../base/keys.ts";
import { FILE_NEEDS } from "../../rules/file-needs.ts";
import type { View } from "../../store/store.ts";
import { admitToItem } from "./admit.ts";
import type { FileContext, PathAsked } from "./context.ts";
import { ItemPaths } from "./item-paths.ts";
import {
  decodeHandle,
  type Handle,
  type HandlePlace,
  handleKey,
  placeOfHandleKey,
} from "./open-records.ts";

export interface ListHandles extends PathAsked {
  /** Whether to include the handles of everything below a directory. */
  readonly isRecursive: boolean;
  /** The last handle of the previous list; null to begin with the first. */
  readonly after: HandleMark | null;
  readonly resultsMax: number;
}

export interface ListHandlesDone {
  readonly handles: readonly ListedHandle[];
  /** Where the list continues; null at its end. */
  readonly next: HandleMark | null;
}

/** The place of a handle within its share. */
export type HandleMark = Omit<HandlePlace, "share">;

export interface ListedHandle {
  readonly place: HandlePlace;
  readonly handle: Handle;
  /** From the root of the share; "" for the root itself. */
  readonly path: string;
  readonly parent: bigint;
}

/** Handles that one body looks at. A long list takes several bodies. */
const BODY_HANDLES_MAX = 500;

export async function listHandles(
  context: FileContext,
  asked: ListHandles,
): Promise<ListHandlesDone> {
  const handles: ListedHandle[] = [];
  let after = asked.after;
  for (;;) {
    const room = Math.min(asked.resultsMax - handles.length, BODY_HANDLES_MAX);
    const from = after;
    await fairQueue.next();
    const page = await context.store.read((view) => findHandles(view, asked, from, room));
    handles.push(...page.handles);
    if (page.next === null || handles.length >= asked.resultsMax) {
      return { handles, next: page.next };
    }
    after = page.next;
  }
}

export type HandleSearch = Pick<ListHandles, "at" | "access" | "isRecursive">;

/** Finds handles of the item itself or of everything below it, among `limit` records. */
export function findHandles(
  view: View,
  asked: HandleSearch,
  after: HandleMark | null,
  limit: number,
  need = FILE_NEEDS.listHandles,
): ListHandlesDone {
  const { tree, id } = admitToItem(view, asked, need);
  // Snapshots have no handles.
  if (tree.snapshot !== null) return { handles: [], next: null };
  const all = asked.isRecursive ? key(SPACE.handle, tree.share) : key(SPACE.handle, tree.share, id);
  const from =
    after === null ? all : keyAfter(handleKey({ share: tree.share, id: after.id }, after.handle));
  const found = view.range(from, keyAfter(all), { limit: limit + 1 });
  const paths = new ItemPaths(view, tree);
  const handles: ListedHandle[] = [];
  for (const entry of found.slice(0, limit)) {
    const place = placeOfHandleKey(entry.key);
    const handle = decodeHandle(entry.value);
    if (!paths.isWithin(place.id, handle.isDirectory, id)) continue;
    const { path, parent } = paths.of(place.id, handle.isDirectory);
    handles.push({ place, handle, path, parent });
  }
  const last = found.length > limit ? found[limit - 1] : undefined;
  return { handles, next: last === undefined ? null : placeOfHandleKey(last.key) };
}
