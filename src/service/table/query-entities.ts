import type { Instant } from "../../base/clock.ts";
import { fairQueue } from "../../base/fair-queue.ts";
import { KIB, MIB } from "../../base/limits.ts";
import { type Filter, type FilterSize, sizeOfFilter } from "../../rules/entity-filter.ts";
import {
  clip,
  type EntityPlace,
  type KeySpan,
  type Plan,
  planQuery,
  START,
  spanOfRange,
} from "../../rules/entity-plan.ts";
import { TABLE_NEEDS } from "../../rules/table-needs.ts";
import { derivedRange } from "../../store/accelerated.ts";
import type { View } from "../../store/store.ts";
import { admitToTable } from "./admit.ts";
import type { EntitiesAsked, TableContext } from "./context.ts";
import { ENTITY_PAGES, type EntityPage, type PageRows } from "./entity-page.ts";
import { boundKey, endKey, type Table } from "./records.ts";

export interface QueryEntities extends EntitiesAsked {
  readonly filter: Filter | null;
  readonly resultsMax: number;
  /** Where the previous page ended; null to begin with the first entity. */
  readonly from: EntityPlace | null;
}

export interface QueryEntitiesDone {
  /** The table's name in the case in which it was created. */
  readonly table: string;
  readonly found: readonly PageRows[];
  /** Where the next page begins; null at the end. */
  readonly next: EntityPlace | null;
}

/** A page ends after this time, whatever it has found. */
export const QUERY_MS_MAX = 5_000;
/** A page ends with the entity that reaches this size. */
export const QUERY_BYTES_MAX = 4 * MIB;
/** The cost limit of a body, in looks. A look is one entity read, about 2 µs. */
const BODY_LOOKS_MAX = 1_000;
/** A large entity counts as one look for each of this many bytes. */
const BYTES_PER_LOOK = 4 * KIB;
/** Entities of a cached page that count as one look. */
const CACHED_ENTITIES_PER_LOOK = 32;
/** Conditions of a filter that count as one look, for each entity. */
const CONDITIONS_PER_LOOK = 16;
const PAGE_ENTITIES_MAX = 1_024;

export async function queryEntities(
  context: TableContext,
  asked: QueryEntities,
): Promise<QueryEntitiesDone> {
  const plan = planQuery(asked.filter);
  const range = asked.keyRange === null ? null : spanOfRange(asked.keyRange);
  const open = range === null ? plan.spans : clip(plan.spans, range);
  const found: PageRows[] = [];
  let room: Room = { entities: asked.resultsMax, bytes: QUERY_BYTES_MAX };
  let from = asked.from ?? START;
  let untilMs: Instant | null = null;
  for (;;) {
    await fairQueue.next();
    const spans = clip(open, { from, until: null });
    const part = await context.store.read((view) => readPart(view, asked, plan, spans, room));
    found.push(...part.found);
    room = part.room;
    untilMs ??= part.nowMs + QUERY_MS_MAX;
    const isOver = isFull(room) || part.nowMs >= untilMs;
    if (part.next === null || isOver) return { table: part.table, found, next: part.next };
    from = part.next;
  }
}

/** The room left in a page. */
interface Room {
  readonly entities: number;
  readonly bytes: number;
}

function isFull({ entities, bytes }: Room): boolean {
  return entities <= 0 || bytes <= 0;
}

interface Part extends QueryEntitiesDone {
  readonly room: Room;
  readonly nowMs: Instant;
}

function readPart(
  view: View,
  asked: QueryEntities,
  plan: Plan,
  spans: readonly KeySpan[],
  room: Room,
): Part {
  const table = admitToTable(view, asked, TABLE_NEEDS.queryEntities);
  const search = new Search(view, table, plan.exact ? null : asked.filter, room);
  let next: EntityPlace | null = null;
  for (const span of spans) {
    next = search.through(span);
    if (next !== null) break;
  }
  const { found, room: left } = search;
  return { table: table.name, found, next, room: left, nowMs: view.now() };
}

/** The part of a query that one body does. */
class Search {
  readonly found: PageRows[] = [];
  room: Room;
  readonly #view: View;
  readonly #table: Table;
  readonly #filter: Filter | null;
  readonly #size: FilterSize;
  #looks = BODY_LOOKS_MAX;

  constructor(view: View, table: Table, filter: Filter | null, room: Room) {
    this.#view = view;
    this.#table = table;
    this.#filter = filter;
    this.#size = filter === null ? { nodes: 0, names: 0 } : sizeOfFilter(filter);
    this.room = room;
  }

  /** Where the search must continue later; null if it reached the end of the span. */
  through({ from, until }: KeySpan): EntityPlace | null {
    const end = until === null ? endKey(this.#table) : boundKey(this.#table, until);
    let at = boundKey(this.#table, from);
    while (at.compare(end) < 0) {
      const range = derivedRange(this.#view, ENTITY_PAGES, at, end, this.#limit());
      const page = range.derived;
      const last = range.until.compare(end) <= 0 ? page.size : page.rowAt(end);
      const first = at.equals(range.from) ? 0 : page.rowAt(at);
      const stop = this.#take(page, first, last, range.wasCached);
      if (stop < last) return page.place(stop);
      if (!range.wasCached) this.#payForBytes(page);
      at = range.until;
    }
    return null;
  }

  /** Returns the row before which it had to stop. */
  #take(page: EntityPage, first: number, last: number, isCached: boolean): number {
    if (isFull(this.room)) return first;
    const end = this.#reach(page, first, last, isCached);
    const rows = page.select(this.#filter, this.#size.names, first, end);
    rows.length = this.#fitting(page, rows);
    const stop = isFull(this.room) ? (rows.at(-1) as number) + 1 : end;
    if (rows.length > 0) this.found.push({ page, rows });
    return stop;
  }

  /** Returns the row that the remaining looks reach, and spends them. */
  #reach(page: EntityPage, first: number, last: number, isCached: boolean): number {
    const { nodes, names } = this.#size;
    const read = isCached ? 1 / CACHED_ENTITIES_PER_LOOK : 1;
    const perRow = Math.max(read, nodes / CONDITIONS_PER_LOOK);
    if (!page.isReadByRow(names)) {
      const end = Math.min(last, first + Math.ceil(Math.max(0, this.#looks) / perRow));
      this.#looks -= Math.ceil((end - first) * perRow);
      return end;
    }
    let row = first;
    for (; row < last && this.#looks > 0; row++) {
      this.#looks -= perRow + page.bytesOf(row) / BYTES_PER_LOOK;
    }
    return row;
  }

  /** How many of the rows fit into the page. */
  #fitting(page: EntityPage, rows: readonly number[]): number {
    let { entities, bytes } = this.room;
    let fitting = 0;
    for (; fitting < rows.length && entities > 0 && bytes > 0; fitting++) {
      entities--;
      bytes -= page.bytesOf(rows[fitting] as number);
    }
    this.room = { entities, bytes };
    return fitting;
  }

  /** Spends the looks for large entities. */
  #payForBytes(page: EntityPage): void {
    const more = Math.floor(page.bytes / BYTES_PER_LOOK) - page.size;
    if (more > 0) this.#looks = Math.max(0, this.#looks - more);
  }

  /** How many entities to read. One more than is returned shows where the next page begins. */
  #limit(): number {
    const looks = Math.max(0, Math.ceil(this.#looks));
    const most = this.#filter === null ? Math.min(this.room.entities, looks) : looks;
    return Math.min(PAGE_ENTITIES_MAX, most + 1);
  }
}
