import { Fault, refuse } from "../../base/fault.ts";
import { judgeByAccess } from "../../rules/access.ts";
import { TABLE_NEEDS } from "../../rules/table-needs.ts";
import type { TableAsked, TableContext } from "./context.ts";
import { deleteTable as deleteRecord, readTable } from "./records.ts";

/** Deletes a table. Its name is free at once; the sweeper removes its entities. */
export async function deleteTable(context: TableContext, asked: TableAsked): Promise<void> {
  await context.store.transact((tx) => {
    refuse(judgeByAccess(asked.access, TABLE_NEEDS.deleteTable, null, tx.now()));
    const table = readTable(tx, asked.at);
    if (table === null) throw new Fault("ResourceNotFound");
    deleteRecord(tx, asked.at, table);
  });
}
