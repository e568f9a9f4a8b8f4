import { BodyBudget } from "../../base/body-budget.ts";
import { fairQueue } from "../../base/fair-queue.ts";
import { refuse } from "../../base/fault.ts";
import { keyAfter } from "../../base/keys.ts";
import { type Access, judgeByAccess } from "../../rules/access.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import { matchesTags, type TagQuery } from "../../rules/tag-expression.ts";
import type { Tags } from "../../rules/tags.ts";
import { fetchesRecords } from "../../store/accelerated.ts";
import { unlessDamaged, type View } from "../../store/store.ts";
import { BatchedNeeds } from "../shared/batched-needs.ts";
import { EntryCursor } from "../shared/entry-cursor.ts";
import { admitToContainer } from "./admit.ts";
import type { BlobContext } from "./context.ts";
import { requireFlat } from "./hierarchical-limits.ts";
import {
  blobKey,
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
  /** The container to search; null for all of the account's containers. */
  readonly container: string | null;
  readonly access: Access;
  readonly query: TagQuery;
  /** Where the previous request's search ended. */
  readonly from: FindPosition | null;
  readonly resultsMax: number;
}

/** `within` is null if the search of that container has not begun. */
export interface FindPosition {
  readonly container: string;
  readonly within: TagPosition | null;
}

export interface FoundPage {
  readonly items: readonly FoundBlob[];
  /** Where the search continues; null if it is complete. */
  readonly next: FindPosition | null;
  /** Search steps spent on this page. */
  readonly steps: number;
}

export interface FoundBlob {
  readonly container: string;
  readonly name: string;
  /** The blob's tags that the query names. */
  readonly tags: Tags;
}

const PAGE_ITEMS_MAX = 250;
/** Candidates, jumps and containers that one store read examines. */
const PAGE_STEPS_MAX = 1_000;
/** Lookups of a page, if each may take a round of the store. */
const LOOKUPS_PER_PAGE = 8;
/** Candidates that are fetched together. */
const CANDIDATES_AHEAD = 255;
/** Steps per request. A search for few blobs among many candidates takes several requests. */
const STEPS_MAX = 100_000;

/** Yields results page by page, so that only one page is in memory. Yields at least one page. */
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
  const mayTakeRounds = fetchesRecords(view);
  let steps = 0;
  let lookups = 0;
  const isEnough = (more: number) => mayTakeRounds && lookups + more >= LOOKUPS_PER_PAGE;
  /** The position after the last item. */
  let behind: FindPosition | null = null;
  for (const [name, container] of containersOf(view, asked, from)) {
    if (++steps > PAGE_STEPS_MAX || isEnough(0)) {
      return { items, next: { container: name, within: null }, steps };
    }
    const within = from?.container === name ? from.within : null;
    const search = new TagSearch(view, container, comparisons, within);
    let candidate = "";
    const records = new BatchedNeeds(view, () =>
      [candidate, ...search.ahead(CANDIDATES_AHEAD)].map((id) => ({
        id,
        needs: [blobKey({ parent: container, name: id })],
      })),
    );
    for (let step = search.step(); step !== null; step = search.step()) {
      const position = { container: name, within: step.position };
      if (step.isCandidate) {
        candidate = step.position.blob;
        records.before(candidate);
        const place = { parent: container, name: candidate };
        const record = unlessDamaged(() => readBlobRecord(view, place)) ?? null;
        budget.spend(record?.length ?? 0);
        const tags = record === null ? [] : decodeBlob(record).tags;
        if (matchesTags(tags, { kind: "all", terms: comparisons })) {
          if (items.length === room) return { items, next: behind, steps };
          const shown = tags.filter(([tag]) => named.has(tag));
          items.push({ container: name, name: step.position.blob, tags: shown });
          behind = position;
        }
      }
      const isOver = budget.isSpent || isEnough(search.lookups);
      if (++steps > PAGE_STEPS_MAX || isOver) return { items, next: position, steps };
    }
    lookups += search.lookups;
  }
  return { items, next: null, steps };
}

function admit(view: View, asked: FindBlobsByTags): void {
  const { account, container, access } = asked;
  if (container === null) {
    refuse(judgeByAccess(access, BLOB_NEEDS.findBlobsByTags, null, view.now()));
  } else {
    const need = BLOB_NEEDS.findBlobsByTagsInContainer;
    requireFlat(admitToContainer(view, { at: { account, container }, access }, need), "tags");
  }
}

/** The containers to search, ordered by name. */
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
