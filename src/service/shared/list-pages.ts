import { fairQueue } from "../../base/fair-queue.ts";
import type { Store, View } from "../../store/store.ts";

/** Items of one body. A long list takes several: each sees one state, and no writer waits. */
const BODY_ITEMS_MAX = 1_000;

export interface PagedList<Page, Position> {
  /** Where the previous list ended. */
  readonly after: Position;
  readonly resultsMax: number;
  read(view: View, after: Position, room: number): Page;
  /** How many items the page has. */
  count(page: Page): number;
}

/** Lists page by page, so that only one page is in memory. There is always a first page. */
export async function* listPages<Position, Page extends { readonly next: Position | null }>(
  store: Store,
  list: PagedList<Page, Position>,
): AsyncGenerator<Page> {
  let { after, resultsMax: left } = list;
  for (;;) {
    const [from, room] = [after, Math.min(left, BODY_ITEMS_MAX)];
    await fairQueue.next();
    const page = await store.read((view) => list.read(view, from, room));
    yield page;
    left -= list.count(page);
    if (page.next === null || left <= 0) return;
    after = page.next;
  }
}
