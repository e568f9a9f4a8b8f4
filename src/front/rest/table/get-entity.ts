import type { EntityPlace } from "../../../rules/entity-plan.ts";
import type { TableContext } from "../../../service/table/context.ts";
import { getEntity } from "../../../service/table/get-entity.ts";
import type { RestResponse } from "../http/exchange.ts";
import { DATA_HEADERS, entitiesAskedOf, type TableCall } from "./call.ts";
import { etagOfStamp } from "./entity-etag.ts";
import { EntityJson } from "./entity-json.ts";
import { jsonContent, metadataLevelOf } from "./metadata-level.ts";
import { requireNoSearchOptions, selectOf } from "./query-options.ts";

export async function handleGetEntity(
  context: TableContext,
  call: TableCall,
): Promise<RestResponse> {
  const { endpoint, account, route, request } = call;
  const level = metadataLevelOf(request);
  requireNoSearchOptions(request.query);
  const place = route.place as EntityPlace;
  const entity = await getEntity(context, { ...entitiesAskedOf(call), place });
  const select = selectOf(request.query);
  const json = new EntityJson({ level, endpoint, account, table: route.table, select });
  const headers = [...DATA_HEADERS, ...jsonContent(level), "ETag", etagOfStamp(entity.stamp)];
  return { status: 200, headers, body: json.one(entity) };
}
