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
import { derivedRange } from "../../store/acceleration.ts";
import type { View } from "../../store/store.ts";
import { admitToTable } from "./admit.ts";
import type { EntitiesAsked, TableContext } from "./context.ts";
import { ENTITY_PAGES, type EntityPage, type PageRows } from "./entity-page.ts";
import { boundKey, endKey, type Table } from "./records.ts";

export interface QueryEntities extends EntitiesAsked {
  readonly filter: Filter | null;
  readonly resultsMax: number;
  /** Where the page before ended; null to begin with the first entity. */
  readonly from: EntityPlace | null;
}

export interface QueryEntitiesDone {
  /** As the table was named when it was created. */
  readonly table: string;
  readonly found: readonly PageRows[];
  /** Where the next page begins; null at the end. */
  readonly next: EntityPlace | null;
}

/** A page ends after this time, whatever it has found. */
export const QUERY_MS_MAX = 5_000;
/** A page ends with the entity that brings it to this size. */
export const QUERY_BYTES_MAX = 4 * MIB;
/** What a body may cost, in looks. A look is an entity that is read, about 2 µs. */
const BODY_LOOKS_MAX = 1_000;
/** A large entity counts as several, one for each of so many bytes that had to be read. */
const BYTES_PER_LOOK = 4 * KIB;
/** So many of a page that was kept count as one. */
const KEPT_ENTITIES_PER_LOOK = 32;
/** So many conditions of a filter count as one, for each entity. */
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

/** What a page can still take. */
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

/** What one body does of a query. */
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

  /** Where the search must go on later; null if it came to the end of the span. */
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

  /** The row before which it had to stop. */
  #take(page: EntityPage, first: number, last: number, isKept: boolean): number {
    if (isFull(this.room)) return first;
    const end = this.#reach(page, first, last, isKept);
    const rows = page.select(this.#filter, this.#size.names, first, end);
    rows.length = this.#fitting(page, rows);
    const stop = isFull(this.room) ? (rows.at(-1) as number) + 1 : end;
    if (rows.length > 0) this.found.push({ page, rows });
    return stop;
  }

  /** The row before which the looks that are left come to their end. They are spent on it. */
  #reach(page: EntityPage, first: number, last: number, isKept: boolean): number {
    const { nodes, names } = this.#size;
    const read = isKept ? 1 / KEPT_ENTITIES_PER_LOOK : 1;
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

  /** How many of the rows the page has room for. */
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

  /** Its entities have been paid for as so many looks. */
  #payForBytes(page: EntityPage): void {
    const more = Math.floor(page.bytes / BYTES_PER_LOOK) - page.size;
    if (more > 0) this.#looks = Math.max(0, this.#looks - more);
  }

  /** As many entities as may be of use. One more than is handed out tells where the next page begins. */
  #limit(): number {
    const looks = Math.max(0, Math.ceil(this.#looks));
    const most = this.#filter === null ? Math.min(this.room.entities, looks) : looks;
    return Math.min(PAGE_ENTITIES_MAX, most + 1);
  }
}
