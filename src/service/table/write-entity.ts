import { TABLE_NEEDS } from "../../rules/table-needs.ts";
import { admitToTable } from "./admit.ts";
import { applyWrite, type EntityWrite, type EntityWritten, prepareWrite } from "./apply-write.ts";
import type { EntitiesAsked, TableContext } from "./context.ts";

export interface WriteEntity extends EntitiesAsked {
  readonly write: EntityWrite;
}

/** Insert, update, merge, delete, insert-or-replace and insert-or-merge. */
export async function writeEntity(
  context: TableContext,
  asked: WriteEntity,
): Promise<EntityWritten> {
  const prepared = prepareWrite(asked.write);
  return context.store.transact((tx) => {
    const table = admitToTable(tx, asked, TABLE_NEEDS[asked.write.kind]);
    return applyWrite(tx, asked, table, prepared, null);
  });
}
