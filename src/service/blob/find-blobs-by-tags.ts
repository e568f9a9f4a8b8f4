import { BodyBudget } from "../../base/body-budget.ts";
import { fairQueue } from "../../base/fair-queue.ts";
import { refuse } from "../../base/fault.ts";
import { keyAfter } from "../../base/keys.ts";
import { type Access, judgeByAccess } from "../../rules/access.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import { matchesTags, type TagQuery } from "../../rules/tag-expression.ts";
import type { Tags } from "../../rules/tags.ts";
import type { View } from "../../store/store.ts";
import { EntryCursor } from "../shared/entry-cursor.ts";
import { admitToContainer } from "./admit.ts";
import type { BlobContext } from "./context.ts";
import {
  type Container,
  containerKey,
  decodeBlob,
  decodeContainer,
  nameOfContainerKey,
  readBlobRecord,
  readContainer,
} from "./records.ts";
import { type TagPosition, TagSearch } from "./tag-search.ts";

export interface FindBlobsByTags {
  readonly account: string;
  /** The container that is searched; null for all of the account. */
  readonly container: string | null;
  readonly access: Access;
  readonly query: TagQuery;
  /** Where the search before ended. */
  readonly from: FindPosition | null;
  readonly resultsMax: number;
}

/** Null behind the container's name: it has not been looked at yet. */
export interface FindPosition {
  readonly container: string;
  readonly within: TagPosition | null;
}

export interface FoundPage {
  readonly items: readonly FoundBlob[];
  /** Where the search goes on; null if it is over. */
  readonly next: FindPosition | null;
  /** What it took to find them. */
  readonly steps: number;
}

export interface FoundBlob {
  readonly container: string;
  readonly name: string;
  /** Those that were asked for. */
  readonly tags: Tags;
}

const PAGE_ITEMS_MAX = 250;
/** Of candidates, jumps and containers in one body. */
const PAGE_STEPS_MAX = 1_000;
/** Who looks for something rare among much that is nearly right goes on with another request. */
const STEPS_MAX = 100_000;

/** Page by page, so that no more than one of them has to be kept. There is always a first. */
export async function* findBlobsByTags(
  context: BlobContext,
  asked: FindBlobsByTags,
): AsyncGenerator<FoundPage> {
  let left = asked.resultsMax;
  let from = asked.from;
  for (let steps = 0; steps < STEPS_MAX && left > 0; ) {
    const room = Math.min(left, PAGE_ITEMS_MAX);
    await fairQueue.next();
    const page = await context.store.read((view) => findPage(view, asked, from, room));
    yield page;
    left -= page.items.length;
    from = page.next;
    if (from === null) return;
    steps += page.steps;
  }
}

function findPage(
  view: View,
  asked: FindBlobsByTags,
  from: FindPosition | null,
  room: number,
): FoundPage {
  admit(view, asked);
  const { comparisons } = asked.query;
  const named = new Set(comparisons.map(({ tag }) => tag));
  const items: FoundBlob[] = [];
  const budget = new BodyBudget();
  let steps = 0;
  /** Behind the last item. */
  let behind: FindPosition | null = null;
  for (const [name, container] of containersOf(view, asked, from)) {
    if (++steps > PAGE_STEPS_MAX) return { items, next: { container: name, within: null }, steps };
    const within = from?.container === name ? from.within : null;
    const search = new TagSearch(view, container, comparisons, within);
    for (let step = search.step(); step !== null; step = search.step()) {
      const position = { container: name, within: step.position };
      if (step.isCandidate) {
        const record = readBlobRecord(view, container, step.position.blob);
        budget.spend(record?.length ?? 0);
        const tags = record === undefined ? [] : decodeBlob(record).tags;
        if (matchesTags(tags, { kind: "all", terms: comparisons })) {
          if (items.length === room) return { items, next: behind, steps };
          const shown = tags.filter(([tag]) => named.has(tag));
          items.push({ container: name, name: step.position.blob, tags: shown });
          behind = position;
        }
      }
      if (++steps > PAGE_STEPS_MAX || budget.isSpent) return { items, next: position, steps };
    }
  }
  return { items, next: null, steps };
}

function admit(view: View, asked: FindBlobsByTags): void {
  const { account, container, access } = asked;
  if (container === null) {
    refuse(judgeByAccess(access, BLOB_NEEDS.findBlobsByTags, null, view.now()));
  } else {
    const need = BLOB_NEEDS.findBlobsByTagsInContainer;
    admitToContainer(view, { at: { account, container }, access }, need);
  }
}

/** Those that are searched, in the order of their names. */
function* containersOf(
  view: View,
  { account, container, query }: FindBlobsByTags,
  from: FindPosition | null,
): Generator<[string, Container]> {
  const one = container ?? query.container;
  if (one !== null) {
    if (query.container !== null && query.container !== one) return;
    const found = readContainer(view, { account, container: one });
    if (found !== null) yield [one, found];
    return;
  }
  const start = containerKey({ account, container: from?.container ?? "" });
  const all = containerKey({ account, container: "" });
  const cursor = new EntryCursor(view, start, keyAfter(all.subarray(0, -1)), false);
  for (;;) {
    const entry = cursor.head(CONTAINERS_AHEAD_MAX);
    if (entry === null) return;
    yield [nameOfContainerKey(entry.key), decodeContainer(entry.value)];
    cursor.advance();
  }
}

const CONTAINERS_AHEAD_MAX = 100;
