import type { TableContext } from "../../../service/table/context.ts";
import { setTableAcl } from "../../../service/table/set-table-acl.ts";
import type { RestResponse } from "../http/exchange.ts";
import { readSignedIdentifiers } from "../signed-identifiers.ts";
import { entitiesAskedOf, type TableCall } from "./call.ts";

export async function handleSetTableAcl(
  context: TableContext,
  call: TableCall,
): Promise<RestResponse> {
  const policies = await readSignedIdentifiers(call.request);
  await setTableAcl(context, { ...entitiesAskedOf(call), policies });
  return { status: 204, headers: [], body: null };
}
