import { Fault } from "../../../base/fault.ts";
import { percentDecode } from "../../../base/percent-text.ts";
import type { EntityPlace } from "../../../rules/entity-plan.ts";
import type { Query, RequestHeaders } from "../http/exchange.ts";

/** The operation and address of a request. */
export interface TableRoute {
  readonly operation: TableOperationName;
  /** Decoded, as it was sent; "" if the operation has none. */
  readonly table: string;
  /** The keys in the URL; null if there are none. */
  readonly place: EntityPlace | null;
}

type Level = "account" | "tables" | "namedTable" | "batch" | "table" | "entity";

/** Every operation of the service, by the path's level, method and `comp` (with `restype`). */
export const TABLE_ROUTES = {
  account: {
    "GET properties service": "getServiceProperties",
    "PUT properties service": "setServiceProperties",
    "GET stats service": "getServiceStats",
  },
  tables: {
    GET: "queryTables",
    POST: "createTable",
  },
  namedTable: {
    GET: "getTable",
    DELETE: "deleteTable",
  },
  batch: {
    POST: "batch",
  },
  table: {
    GET: "queryEntities",
    POST: "insertEntity",
    "GET acl": "getTableAcl",
    "PUT acl": "setTableAcl",
  },
  entity: {
    GET: "getEntity",
    PUT: "updateEntity",
    MERGE: "mergeEntity",
    PATCH: "mergeEntity",
    DELETE: "deleteEntity",
  },
} as const satisfies Record<Level, Readonly<Record<string, string>>>;

type RoutesOf<L extends Level> = (typeof TABLE_ROUTES)[L][keyof (typeof TABLE_ROUTES)[L]];
export type TableOperationName =
  | { [L in Level]: RoutesOf<L> }[Level]
  | "insertOrReplaceEntity"
  | "insertOrMergeEntity";

/** `path` is the part after the account, percent-encoded. */
export function routeTable(
  sentMethod: string,
  path: string,
  query: Query,
  headers: RequestHeaders,
): TableRoute {
  const method = methodOf(sentMethod, headers);
  const { level, table, place } = addressOf(path);
  const operation = operationAt(level, method, query);
  return { operation: withoutIfMatch(operation, headers), table, place };
}

const TUNNELLED = ["MERGE", "PATCH", "PUT", "DELETE"];

/** A POST can replace methods that a proxy would block. */
function methodOf(method: string, headers: RequestHeaders): string {
  const meant = headers.get("x-http-method");
  if (meant === undefined) return method;
  if (method !== "POST") throw new Fault("XMethodNotUsingPost");
  if (meant.includes(",")) throw new Fault("XMethodIncorrectCount");
  if (!TUNNELLED.includes(meant)) throw new Fault("XMethodIncorrectValue");
  return meant;
}

function operationAt(level: Level, method: string, query: Query): TableOperationName {
  const routes: Readonly<Record<string, TableOperationName>> = TABLE_ROUTES[level];
  const comp = query.get("comp") ?? "";
  const restype = level === "account" ? (query.get("restype")?.toLowerCase() ?? "") : "";
  const what = (comp === "" ? "" : ` ${comp}`) + (restype === "" ? "" : ` ${restype}`);
  const found = routes[method + what] ?? (method === "HEAD" ? routes[`GET${what}`] : undefined);
  if (found !== undefined) return found;
  if (comp !== "" && !Object.keys(routes).some((route) => route.endsWith(what))) {
    throw new Fault("InvalidQueryParameterValue", {
      QueryParameterName: "comp",
      QueryParameterValue: comp,
    });
  }
  throw level === "account" ? new Fault("InvalidUri") : new Fault("MethodNotAllowed");
}

/** Without If-Match an update becomes an upsert. */
function withoutIfMatch(
  operation: TableOperationName,
  headers: RequestHeaders,
): TableOperationName {
  if (headers.get("if-match") !== undefined) return operation;
  if (operation === "updateEntity") return "insertOrReplaceEntity";
  return operation === "mergeEntity" ? "insertOrMergeEntity" : operation;
}

interface TablePath {
  readonly level: Level;
  readonly table: string;
  readonly place: EntityPlace | null;
}

const NAME_AND_REST = /^([^/()']+)(?:\(([\s\S]*)\))?\/?$/;

/** `Tables`, `Tables('name')`, `$batch`, `name`, `name()` or `name(PartitionKey='…',RowKey='…')`. */
function addressOf(path: string): TablePath {
  const decoded = decode(path.startsWith("/") ? path.slice(1) : path);
  if (decoded === "") return { level: "account", table: "", place: null };
  const parts = NAME_AND_REST.exec(decoded);
  if (parts === null) throw new Fault("InvalidUri");
  const [, name = "", rest = ""] = parts;
  if (name === "$batch" && rest === "") return { level: "batch", table: "", place: null };
  if (name.toLowerCase() === "tables") return pathOfTables(rest);
  if (name.startsWith("$") && !name.startsWith("$Metrics")) throw new Fault("InvalidUri");
  if (rest.trim() === "") return { level: "table", table: name, place: null };
  return { level: "entity", table: name, place: placeOf(rest) };
}

function pathOfTables(rest: string): TablePath {
  if (rest === "") return { level: "tables", table: "", place: null };
  const name = /^'([^']*)'$/.exec(rest)?.[1];
  if (name === undefined) throw new Fault("InvalidUri");
  return { level: "namedTable", table: name, place: null };
}

const KEY = "'((?:[^']|'')*)'";
const PARTITION_FIRST = new RegExp(`^\\s*PartitionKey=${KEY}\\s*,\\s*RowKey=${KEY}\\s*$`);
const ROW_FIRST = new RegExp(`^\\s*RowKey=${KEY}\\s*,\\s*PartitionKey=${KEY}\\s*$`);

/** The keys come in either order; a quote inside one is written twice. */
function placeOf(rest: string): EntityPlace {
  const [, partition, row] = PARTITION_FIRST.exec(rest) ?? [];
  if (partition !== undefined) return { partition: plain(partition), row: plain(row) };
  const [, rowFirst, partitionLast] = ROW_FIRST.exec(rest) ?? [];
  if (rowFirst === undefined) throw new Fault("InvalidUri");
  return { partition: plain(partitionLast), row: plain(rowFirst) };
}

function plain(quoted = ""): string {
  return quoted.includes("'") ? quoted.replaceAll("''", "'") : quoted;
}

function decode(encoded: string): string {
  const decoded = percentDecode(encoded);
  if (decoded === null) throw new Fault("InvalidUri");
  return decoded;
}
