import { setImmediate } from "node:timers/promises";
import type { Instant } from "../../base/clock.ts";
import {
  type EntityParts,
  type Filter,
  FilteredEntity,
  matches,
} from "../../rules/entity-filter.ts";
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
import type { View } from "../../store/store.ts";
import { admitToTable } from "./admit.ts";
import type { EntitiesAsked, TableContext } from "./context.ts";
import { boundKey, decodeEntity, EntityInView, endKey, placeOfKey, type Table } from "./records.ts";

export interface QueryEntities extends EntitiesAsked {
  readonly filter: Filter | null;
  readonly resultsMax: number;
  /** Where the page before ended; null to begin with the first entity. */
  readonly from: EntityPlace | null;
}

export interface QueryEntitiesDone {
  /** As the table was named when it was created. */
  readonly table: string;
  readonly entities: readonly EntityParts[];
  /** Where the next page begins; null at the end. */
  readonly next: EntityPlace | null;
}

/** A page ends after this time, whatever it has found. */
export const QUERY_MS_MAX = 5_000;
/** A body looks at this many entities at most; others have their turn before the next one. */
const BODY_ENTITIES_MAX = 2_000;

export async function queryEntities(
  context: TableContext,
  asked: QueryEntities,
): Promise<QueryEntitiesDone> {
  const plan = planQuery(asked.filter);
  const range = asked.keyRange === null ? null : spanOfRange(asked.keyRange);
  const open = range === null ? plan.spans : clip(plan.spans, range);
  const entities: EntityParts[] = [];
  let from = asked.from ?? START;
  let untilMs: Instant | null = null;
  for (;;) {
    const spans = clip(open, { from, until: null });
    const room = asked.resultsMax - entities.length;
    const page = await context.store.read((view) => readPage(view, asked, plan, spans, room));
    entities.push(...page.entities);
    untilMs ??= page.nowMs + QUERY_MS_MAX;
    const isOver = entities.length >= asked.resultsMax || page.nowMs >= untilMs;
    if (page.next === null || isOver) return { table: page.table, entities, next: page.next };
    from = page.next;
    await setImmediate();
  }
}

interface Page extends QueryEntitiesDone {
  readonly nowMs: Instant;
}

function readPage(
  view: View,
  asked: QueryEntities,
  plan: Plan,
  spans: readonly KeySpan[],
  room: number,
): Page {
  const table = admitToTable(view, asked, TABLE_NEEDS.queryEntities);
  const filter = plan.exact ? null : asked.filter;
  const entities: EntityParts[] = [];
  const page = (next: EntityPlace | null) => ({
    table: table.name,
    entities,
    next,
    nowMs: view.now(),
  });
  let looks = BODY_ENTITIES_MAX;
  for (const span of spans) {
    const enough = filter === null ? Math.min(looks, room - entities.length) : looks;
    const entries = entriesIn(view, table, span, enough + 1);
    for (const entry of entries) {
      if (looks === 0 || entities.length >= room) return page(placeOfKey(entry.key));
      looks--;
      if (filter !== null && !matches(filter, new FilteredEntity(new EntityInView(entry))))
        continue;
      entities.push(decodeEntity(entry));
    }
  }
  return page(null);
}

function entriesIn(view: View, table: Table, { from, until }: KeySpan, limit: number) {
  const end = until === null ? endKey(table) : boundKey(table, until);
  return view.range(boundKey(table, from), end, { limit });
}
