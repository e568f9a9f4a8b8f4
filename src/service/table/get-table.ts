import { Fault, refuse } from "../../base/fault.ts";
import { judgeByAccess } from "../../rules/access.ts";
import { TABLE_NEEDS } from "../../rules/table-needs.ts";
import type { TableAsked, TableContext } from "./context.ts";
import { readTable } from "./records.ts";

/** The name in the case in which the table was created. */
export async function getTable(context: TableContext, asked: TableAsked): Promise<string> {
  return context.store.read((view) => {
    refuse(judgeByAccess(asked.access, TABLE_NEEDS.getTable, null, view.now()));
    const table = readTable(view, asked.at);
    if (table === null) throw new Fault("ResourceNotFound");
    return table.name;
  });
}
