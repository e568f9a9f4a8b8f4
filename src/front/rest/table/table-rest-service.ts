import type { TableContext } from "../../../service/table/context.ts";
import type { Accounts } from "../auth/account.ts";
import type { AuthOptions } from "../auth/authenticate.ts";
import type { Contexts } from "../contexts.ts";
import { renderTableError } from "../render-error.ts";
import { type StorageProtocol, StorageRestService } from "../storage-rest-service.ts";
import { TABLE_FIELD_VERSIONS } from "./field-versions.ts";
import { TABLE_HANDLERS } from "./handlers.ts";
import { routeTable, type TableRoute } from "./route.ts";

export class TableRestService extends StorageRestService<TableRoute, TableContext> {
  constructor(
    context: TableContext | Contexts<TableContext>,
    accounts: Accounts,
    auth: AuthOptions,
  ) {
    super(PROTOCOL, context, accounts, auth);
  }
}

const PROTOCOL: StorageProtocol<TableRoute, TableContext> = {
  name: "table",
  fields: TABLE_FIELD_VERSIONS,
  route: ({ method, query, headers }, path) => routeTable(method, path, query, headers),
  resourceOf: ({ table }) => ({ service: "table", container: table, name: "" }),
  handle: (context, call) => TABLE_HANDLERS[call.route.operation](context, call),
  renderError: renderTableError,
};
