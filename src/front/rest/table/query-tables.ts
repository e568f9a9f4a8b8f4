import type { TableContext } from "../../../service/table/context.ts";
import { queryTables } from "../../../service/table/query-tables.ts";
import type { RestResponse } from "../http/exchange.ts";
import { DATA_HEADERS, type TableCall } from "./call.ts";
import { jsonContent, metadataLevelOf } from "./metadata-level.ts";
import { parseFilter } from "./parse-filter.ts";
import {
  requireKnownOptions,
  requireTableNameOnly,
  resultsMaxOf,
  tokenOf,
  writeToken,
} from "./query-options.ts";
import { tableListJson } from "./table-json.ts";

export async function handleQueryTables(
  context: TableContext,
  call: TableCall,
): Promise<RestResponse> {
  const { account, access, endpoint, request } = call;
  const { query } = request;
  const level = metadataLevelOf(request);
  requireKnownOptions(query);
  requireTableNameOnly(query);
  const { names, next } = await queryTables(context, {
    account,
    access,
    filter: parseFilter(request.query.form("$filter")),
    resultsMax: resultsMaxOf(query),
    from: tokenOf(query, "nexttablename") ?? "",
  });
  const headers = [...DATA_HEADERS, ...jsonContent(level)];
  if (next !== null) headers.push("x-ms-continuation-NextTableName", writeToken(next));
  return { status: 200, headers, body: tableListJson(names, { level, endpoint, account }) };
}
