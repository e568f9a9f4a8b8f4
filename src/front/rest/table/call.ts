import type { ServiceAsked } from "../../../service/account/context.ts";
import type { EntitiesAsked, TableContext } from "../../../service/table/context.ts";
import { accessTo } from "../auth/token-access.ts";
import type { RestResponse } from "../http/exchange.ts";
import type { StorageCall } from "../storage-rest-service.ts";
import type { TableRoute } from "./route.ts";

/** One call of a Table operation. */
export type TableCall = StorageCall<TableRoute>;

export type TableHandler = (context: TableContext, call: TableCall) => Promise<RestResponse>;

export function entitiesAskedOf({ account, access, keyRange, route }: TableCall): EntitiesAsked {
  // The URL of a batch names no table; its operations do.
  return {
    at: { account, table: route.table },
    access: accessTo(access, "table", route.table),
    keyRange,
  };
}

export function serviceAskedOf({ account, access }: TableCall): ServiceAsked {
  return { at: { account, service: "table" }, access };
}

/** Headers of every answer about tables and entities. */
export const DATA_HEADERS: readonly string[] = [
  "Cache-Control",
  "no-cache",
  "X-Content-Type-Options",
  "nosniff",
  "DataServiceVersion",
  "3.0;",
];
