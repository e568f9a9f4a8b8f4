import type { Need } from "./access.ts";
import { SERVICE_NEEDS } from "./service-needs.ts";

/**
 * The permissions that each Table operation needs of a SAS; the account key permits all.
 * docs/reference/permissions.md shows the same table, and a test compares them.
 */
export const TABLE_NEEDS = {
  ...SERVICE_NEEDS,
  queryTables: table("l"),
  getTable: table("l"),
  createTable: table("cw"),
  deleteTable: table("d"),
  getTableAcl: table(""),
  setTableAcl: table(""),

  queryEntities: entity("r"),
  getEntity: entity("r"),
  insertEntity: entity("a"),
  updateEntity: entity("u"),
  mergeEntity: entity("u"),
  insertOrReplaceEntity: { ...entity("au"), every: true },
  insertOrMergeEntity: { ...entity("au"), every: true },
  deleteEntity: entity("d"),
} as const satisfies Record<string, Need>;

/** No service SAS permits operations on a table as a whole. */
function table(letters: string): Need {
  return { on: "c", account: letters, service: "", anonymous: "never" };
}

function entity(letters: string): Need {
  return { on: "o", account: letters, service: letters, anonymous: "never" };
}
