import { refuse } from "../../base/fault.ts";
import { key, keyAfter, SPACE } from "../../base/keys.ts";
import { type Access, judgeByAccess } from "../../rules/access.ts";
import { type Filter, matches } from "../../rules/entity-filter.ts";
import { TABLE_NEEDS } from "../../rules/table-needs.ts";
import type { View } from "../../store/store.ts";
import type { TableContext } from "./context.ts";
import { decodeTable, tableKey } from "./records.ts";

export interface QueryTables {
  readonly account: string;
  readonly access: Access;
  /** Filters by `TableName`. */
  readonly filter: Filter | null;
  readonly resultsMax: number;
  /** Where the previous page ended; "" to begin with the first table. */
  readonly from: string;
}

export interface QueryTablesDone {
  /** In the case in which each was created, ordered without case. */
  readonly names: readonly string[];
  /** Where the next page begins; null at the end. */
  readonly next: string | null;
}

/** Limit of tables that a page looks at; it may have fewer results than requested. */
const LOOKED_AT_MAX = 5_000;

export async function queryTables(
  context: TableContext,
  asked: QueryTables,
): Promise<QueryTablesDone> {
  return context.store.read((view) => {
    refuse(judgeByAccess(asked.access, TABLE_NEEDS.queryTables, null, view.now()));
    return readPage(view, asked);
  });
}

function readPage(view: View, asked: QueryTables): QueryTablesDone {
  const { account, filter, resultsMax } = asked;
  const from = tableKey({ account, table: asked.from });
  const limit = (filter === null ? resultsMax : LOOKED_AT_MAX) + 1;
  const until = keyAfter(key(SPACE.table, account));
  const entries = view.range(from, until, { limit, skipsDamaged: true });
  const names: string[] = [];
  for (const [at, entry] of entries.entries()) {
    const { name } = decodeTable(entry.value);
    if (names.length >= resultsMax || at === limit - 1) return { names, next: name };
    if (filter === null || matches(filter, named(name))) names.push(name);
  }
  return { names, next: null };
}

function named(name: string) {
  const value = { kind: "string", value: name } as const;
  return { find: (property: string) => (property === "TableName" ? value : null) };
}
