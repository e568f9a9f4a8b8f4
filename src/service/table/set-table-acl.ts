import { refuse } from "../../base/fault.ts";
import type { StoredPolicy } from "../../rules/access.ts";
import { judgePolicies } from "../../rules/stored-policies.ts";
import { TABLE_NEEDS } from "../../rules/table-needs.ts";
import { admitToTable } from "./admit.ts";
import type { TableAsked, TableContext } from "./context.ts";
import { writeTable } from "./records.ts";

export interface SetTableAcl extends TableAsked {
  readonly policies: readonly StoredPolicy[];
}

const TABLE_LETTERS = "raud";

/** Takes effect at once, even for requests in progress: they are judged when they commit. */
export async function setTableAcl(context: TableContext, asked: SetTableAcl): Promise<void> {
  await context.store.transact((tx) => {
    const table = admitToTable(tx, asked, TABLE_NEEDS.setTableAcl);
    refuse(judgePolicies(asked.policies, TABLE_LETTERS));
    writeTable(tx, asked.at, { ...table, policies: asked.policies });
  });
}
