import type { TableContext } from "../../../service/table/context.ts";
import { deleteTable } from "../../../service/table/delete-table.ts";
import type { RestResponse } from "../http/exchange.ts";
import { DATA_HEADERS, entitiesAskedOf, type TableCall } from "./call.ts";

export async function handleDeleteTable(
  context: TableContext,
  call: TableCall,
): Promise<RestResponse> {
  await deleteTable(context, entitiesAskedOf(call));
  return { status: 204, headers: [...DATA_HEADERS], body: null };
}
