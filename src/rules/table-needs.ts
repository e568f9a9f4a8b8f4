import type { Need } from "./access.ts";
import { SERVICE_NEEDS } from "./service-needs.ts";

/**
 * The permissions that each Table operation needs of a SAS or a role; the account key permits all.
 * docs/reference/permissions.md shows the same table, and a test compares them.
 */
export const TABLE_NEEDS = {
  ...SERVICE_NEEDS,
  queryTables: table("l", "read"),
  getTable: table("l", "read"),
  createTable: table("cw", "write"),
  deleteTable: table("d", "delete"),
  getTableAcl: table("", "getAcl/action"),
  setTableAcl: table("", "setAcl/action"),

  queryEntities: entity("r", "read"),
  getEntity: entity("r", "read"),
  insertEntity: entity("a", "write", "add/action"),
  updateEntity: entity("u", "write", "update/action"),
  mergeEntity: entity("u", "write", "update/action"),
  insertOrReplaceEntity: { ...entity("au", "write"), every: true },
  insertOrMergeEntity: { ...entity("au", "write"), every: true },
  deleteEntity: entity("d", "delete"),
} as const satisfies Record<string, Need>;

/** No service SAS permits operations on a table as a whole. */
function table(letters: string, action: string): Need {
  const actions = [`tables/${action}`];
  return { on: "c", account: letters, service: "", anonymous: "never", actions };
}

function entity(letters: string, ...verbs: string[]): Need {
  const actions = verbs.map((verb) => `tables/entities/${verb}`);
  return { on: "o", account: letters, service: letters, anonymous: "never", actions };
}
