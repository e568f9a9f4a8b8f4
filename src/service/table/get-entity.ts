import { Fault, refuse } from "../../base/fault.ts";
import { judgeByKeyRange } from "../../rules/access.ts";
import type { EntityParts } from "../../rules/entity-filter.ts";
import type { EntityPlace } from "../../rules/entity-plan.ts";
import { TABLE_NEEDS } from "../../rules/table-needs.ts";
import { admitToTable } from "./admit.ts";
import type { EntitiesAsked, TableContext } from "./context.ts";
import { readEntity } from "./records.ts";

export interface GetEntity extends EntitiesAsked {
  readonly place: EntityPlace;
}

export async function getEntity(context: TableContext, asked: GetEntity): Promise<EntityParts> {
  const { partition, row } = asked.place;
  return context.store.read((view) => {
    const table = admitToTable(view, asked, TABLE_NEEDS.getEntity);
    refuse(judgeByKeyRange(asked.keyRange, asked.at.table, partition, row));
    const found = readEntity(view, table, asked.place);
    if (found === null) throw new Fault("ResourceNotFound");
    return { partition, row, stamp: found.stamp, properties: found.properties };
  });
}
