import {
  answerServiceProperties,
  answerServiceStats,
  NO_OWN_ELEMENTS,
  takeServiceProperties,
} from "../service-properties.ts";
import { handleBatch } from "./batch.ts";
import { serviceAskedOf, type TableHandler } from "./call.ts";
import { handleCreateTable } from "./create-table.ts";
import { handleDeleteTable } from "./delete-table.ts";
import { handleGetEntity } from "./get-entity.ts";
import { handleGetTable } from "./get-table.ts";
import { handleGetTableAcl } from "./get-table-acl.ts";
import { handleQueryEntities } from "./query-entities.ts";
import { handleQueryTables } from "./query-tables.ts";
import type { TableOperationName } from "./route.ts";
import { handleSetTableAcl } from "./set-table-acl.ts";
import { handleWriteEntity } from "./write-entity.ts";

/**
 * The handler of each operation. docs/reference/table-operations.md lists the same, and a test
 * compares them.
 */
export const TABLE_HANDLERS: Readonly<Record<TableOperationName, TableHandler>> = {
  getServiceProperties: (context, call) => answerServiceProperties(context, serviceAskedOf(call)),
  setServiceProperties: (context, call) =>
    takeServiceProperties(context, serviceAskedOf(call), call.request, NO_OWN_ELEMENTS),
  getServiceStats: (context, call) => answerServiceStats(context, serviceAskedOf(call), call),

  queryTables: handleQueryTables,
  getTable: handleGetTable,
  createTable: handleCreateTable,
  deleteTable: handleDeleteTable,
  getTableAcl: handleGetTableAcl,
  setTableAcl: handleSetTableAcl,

  queryEntities: handleQueryEntities,
  getEntity: handleGetEntity,
  insertEntity: handleWriteEntity,
  updateEntity: handleWriteEntity,
  mergeEntity: handleWriteEntity,
  insertOrReplaceEntity: handleWriteEntity,
  insertOrMergeEntity: handleWriteEntity,
  deleteEntity: handleWriteEntity,
  batch: handleBatch,
};
