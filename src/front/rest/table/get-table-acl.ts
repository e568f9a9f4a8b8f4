import type { TableContext } from "../../../service/table/context.ts";
import { getTableAcl } from "../../../service/table/get-table-acl.ts";
import type { RestResponse } from "../http/exchange.ts";
import { XML_CONTENT } from "../response-headers.ts";
import { signedIdentifiersXml } from "../signed-identifiers.ts";
import { entitiesAskedOf, type TableCall } from "./call.ts";

export async function handleGetTableAcl(
  context: TableContext,
  call: TableCall,
): Promise<RestResponse> {
  const policies = await getTableAcl(context, entitiesAskedOf(call));
  return { status: 200, headers: [...XML_CONTENT], body: signedIdentifiersXml(policies) };
}
