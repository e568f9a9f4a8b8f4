import type { TableContext } from "../../../service/table/context.ts";
import type { Accounts } from "../auth/account.ts";
import type { AuthOptions } from "../auth/authenticate.ts";
import { renderTableError } from "../render-error.ts";
import { type StorageProtocol, StorageRestService } from "../storage-rest-service.ts";
import { TABLE_FIELD_VERSIONS } from "./field-versions.ts";
import { TABLE_HANDLERS } from "./handlers.ts";
import { routeTable, type TableRoute } from "./route.ts";

export class TableRestService extends StorageRestService<TableRoute> {
  constructor(context: TableContext, accounts: Accounts, auth: AuthOptions) {
    super(protocolOn(context), context, accounts, auth);
  }
}

function protocolOn(context: TableContext): StorageProtocol<TableRoute> {
  return {
    name: "table",
    fields: TABLE_FIELD_VERSIONS,
    route: ({ method, query, headers }, path) => routeTable(method, path, query, headers),
    resourceOf: ({ table }) => ({ service: "table", container: table, name: "" }),
    handle: (call) => TABLE_HANDLERS[call.route.operation](context, call),
    renderError: renderTableError,
  };
}
