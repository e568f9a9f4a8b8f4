import type { EntityPlace } from "../../../rules/entity-plan.ts";
import type { TableContext } from "../../../service/table/context.ts";
import { queryEntities } from "../../../service/table/query-entities.ts";
import type { Query, RestResponse } from "../http/exchange.ts";
import { DATA_HEADERS, entitiesAskedOf, type TableCall } from "./call.ts";
import { EntityJson } from "./entity-json.ts";
import { jsonContent, metadataLevelOf } from "./metadata-level.ts";
import { parseFilter } from "./parse-filter.ts";
import {
  requireKnownOptions,
  resultsMaxOf,
  selectOf,
  tokenOf,
  writeToken,
} from "./query-options.ts";

export async function handleQueryEntities(
  context: TableContext,
  call: TableCall,
): Promise<RestResponse> {
  const { endpoint, account, request } = call;
  const { query } = request;
  const level = metadataLevelOf(request);
  requireKnownOptions(query);
  const { table, found, next } = await queryEntities(context, {
    ...entitiesAskedOf(call),
    filter: parseFilter(request.query.form("$filter")),
    resultsMax: resultsMaxOf(query),
    from: continuationOf(query),
  });
  const json = new EntityJson({ level, endpoint, account, table, select: selectOf(request.query) });
  const headers = [...DATA_HEADERS, ...jsonContent(level), ...continuationHeaders(next)];
  return { status: 200, headers, body: await json.list(found) };
}

function continuationOf(query: Query): EntityPlace | null {
  const partition = tokenOf(query, "nextpartitionkey");
  const row = tokenOf(query, "nextrowkey");
  return partition === null && row === null ? null : { partition: partition ?? "", row: row ?? "" };
}

function continuationHeaders(next: EntityPlace | null): string[] {
  if (next === null) return [];
  return [
    ...["x-ms-continuation-NextPartitionKey", writeToken(next.partition)],
    ...["x-ms-continuation-NextRowKey", writeToken(next.row)],
  ];
}
