import { Fault, refuse } from "../../base/fault.ts";
import { judgeByAccess, type Need } from "../../rules/access.ts";
import { judgeTableName, TABLE_NAME_RULE } from "../../rules/table-name.ts";
import type { View } from "../../store/store.ts";
import type { TableAsked } from "./context.ts";
import { readTable, type Table } from "./records.ts";

/** The table, if it exists and the caller may do this to it or to its entities. */
export function admitToTable(view: View, asked: TableAsked, need: Need): Table {
  const table = readTable(view, asked.at);
  // Permission comes first: without it a caller does not learn what exists.
  refuse(judgeByAccess(asked.access, need, guardOf(table), view.now()));
  if (table === null) {
    // Whatever exists has a valid name, so only a miss checks it.
    refuse(judgeTableName(asked.at.table), TABLE_NAME_RULE);
    throw new Fault("TableNotFound");
  }
  return table;
}

export function guardOf(table: Table | null) {
  return table === null ? null : { publicAccess: "none" as const, policies: table.policies };
}
