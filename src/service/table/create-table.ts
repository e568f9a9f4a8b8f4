import { Fault, refuse } from "../../base/fault.ts";
import { judgeByAccess } from "../../rules/access.ts";
import { judgeTableName, TABLE_NAME_RULE } from "../../rules/table-name.ts";
import { TABLE_NEEDS } from "../../rules/table-needs.ts";
import type { TableAsked, TableContext } from "./context.ts";
import { readTable, writeTable } from "./records.ts";

export async function createTable(context: TableContext, asked: TableAsked): Promise<void> {
  await context.store.transact((tx) => {
    refuse(judgeByAccess(asked.access, TABLE_NEEDS.createTable, null, tx.now()));
    refuse(judgeTableName(asked.at.table), TABLE_NAME_RULE);
    if (readTable(tx, asked.at) !== null) throw new Fault("TableAlreadyExists");
    writeTable(tx, asked.at, { id: tx.stamp(), name: asked.at.table, policies: [] });
  });
}
