import { FILE_NEEDS } from "../../rules/file-needs.ts";
import type { Transaction } from "../../store/store.ts";
import { admitToItem } from "./admit.ts";
import type { CacheOwner } from "./cache-owner.ts";
import type { FileContext } from "./context.ts";
import { endHandle } from "./end-handle.ts";
import { findHandles, type HandleMark, type HandleSearch } from "./list-handles.ts";
import type { HandleId, OpenItem } from "./open-records.ts";

export interface ForceCloseHandles extends HandleSearch {
  /** Null for all handles. */
  readonly handle: HandleId | null;
  /** Where the previous call stopped; null to begin with the first. */
  readonly after: HandleMark | null;
}

export interface ForceCloseHandlesDone {
  readonly closed: number;
  /** Where to continue if there are more handles than one call closes; null at the end. */
  readonly next: HandleMark | null;
}

const BODY_HANDLES_MAX = 100;
const CALL_HANDLES_MAX = 5_000;

/** Closes handles from outside. Their clients learn of it when they next use them. */
export async function forceCloseHandles(
  context: FileContext,
  asked: ForceCloseHandles,
): Promise<ForceCloseHandlesDone> {
  let closed = 0;
  let { after } = asked;
  for (let seen = 0; seen < CALL_HANDLES_MAX; seen += BODY_HANDLES_MAX) {
    const from = after;
    const page = await context.store.transact((tx) => closePage(context, tx, asked, from));
    closed += page.handles.length;
    for (const { place, endedCache } of page.handles) context.breaks.finish(place, endedCache);
    after = page.next;
    if (after === null) break;
  }
  return { closed, next: after };
}

interface ClosedPage {
  readonly handles: readonly { readonly place: OpenItem; readonly endedCache: CacheOwner | null }[];
  readonly next: HandleMark | null;
}

/** Returns the page of handles that were closed. */
function closePage(
  { contents }: FileContext,
  tx: Transaction,
  asked: ForceCloseHandles,
  after: HandleMark | null,
): ClosedPage {
  const need = FILE_NEEDS.forceCloseHandles;
  const { tree } = admitToItem(tx, asked, need);
  const page = findHandles(tx, asked, after, BODY_HANDLES_MAX, need);
  const handles = page.handles
    .filter(({ place }) => asked.handle === null || place.handle === asked.handle)
    .map(({ place, handle }) => {
      return { place, endedCache: endHandle(tx, contents, tree, place, place.handle, handle) };
    });
  return { handles, next: page.next };
}
