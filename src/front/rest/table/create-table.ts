import { Fault } from "../../../base/fault.ts";
import type { TableContext } from "../../../service/table/context.ts";
import { createTable } from "../../../service/table/create-table.ts";
import type { RestResponse } from "../http/exchange.ts";
import { DATA_HEADERS, type TableCall } from "./call.ts";
import { readJsonBody } from "./entity-body.ts";
import { jsonContent, metadataLevelOf } from "./metadata-level.ts";
import { preferenceHeaders, preferenceOf } from "./preference.ts";
import { tableJson, tablePath } from "./table-json.ts";

export async function handleCreateTable(
  context: TableContext,
  call: TableCall,
): Promise<RestResponse> {
  const { request, account, access, endpoint } = call;
  const level = metadataLevelOf(request);
  const preference = preferenceOf(request.headers);
  const value = (await readJsonBody(request)).get("TableName");
  if (value?.kind !== "text") throw new Fault("PropertiesNeedValue");
  const name = value.text;
  await createTable(context, { at: { account, table: name }, access });
  const headers = [
    ...DATA_HEADERS,
    ...preferenceHeaders(preference),
    ...["Location", endpoint + tablePath(name)],
  ];
  if (preference === "return-no-content") {
    return {
      status: 204,
      headers: [...headers, "DataServiceId", endpoint + tablePath(name)],
      body: null,
    };
  }
  const body = tableJson(name, { level, endpoint, account });
  return { status: 201, headers: [...headers, ...jsonContent(level)], body };
}
