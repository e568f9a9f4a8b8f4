import type { TableContext } from "../../../service/table/context.ts";
import { getTable } from "../../../service/table/get-table.ts";
import type { RestResponse } from "../http/exchange.ts";
import { DATA_HEADERS, entitiesAskedOf, type TableCall } from "./call.ts";
import { jsonContent, metadataLevelOf } from "./metadata-level.ts";
import { tableJson } from "./table-json.ts";

export async function handleGetTable(
  context: TableContext,
  call: TableCall,
): Promise<RestResponse> {
  const level = metadataLevelOf(call.request);
  const name = await getTable(context, entitiesAskedOf(call));
  const body = tableJson(name, { level, endpoint: call.endpoint, account: call.account });
  return { status: 200, headers: [...DATA_HEADERS, ...jsonContent(level)], body };
}
