import type { StoredPolicy } from "../../rules/access.ts";
import { TABLE_NEEDS } from "../../rules/table-needs.ts";
import { admitToTable } from "./admit.ts";
import type { TableAsked, TableContext } from "./context.ts";

export async function getTableAcl(
  context: TableContext,
  asked: TableAsked,
): Promise<readonly StoredPolicy[]> {
  return context.store.read((view) => admitToTable(view, asked, TABLE_NEEDS.getTableAcl).policies);
}
