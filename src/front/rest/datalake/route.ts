import { Fault } from "../../../base/fault.ts";
import { percentDecode } from "../../../base/percent-text.ts";
import type { Query, RequestHeaders } from "../http/exchange.ts";
import { invalidQuery, nameFromQuery, requireFromQuery } from "../request-query.ts";

/** The operation and address of a request of the Data Lake protocol. */
export interface DataLakeRoute {
  readonly operation: DataLakeOperationName;
  /** The file system, decoded; "" if the operation has none. */
  readonly container: string;
  /** The path, or the directory to list, without slashes at its ends; "" for the root. */
  readonly blob: string;
}

/**
 * Every operation of the protocol, by what it addresses, its method, and `resource` or `action`.
 * The names are those of the files that handle them.
 */
export const DATALAKE_ROUTES = {
  account: { "GET account": "listFilesystems" },
  filesystem: {
    "PUT filesystem": "createFilesystem",
    "HEAD filesystem": "getFilesystemProperties",
    "GET filesystem": "listPaths",
    "PATCH filesystem": "setFilesystemProperties",
    "DELETE filesystem": "deleteFilesystem",
  },
  path: {
    "PUT file": "createPath",
    "PUT directory": "createPath",
    GET: "readPath",
    HEAD: "getPathProperties",
    "HEAD getStatus": "getPathStatus",
    "HEAD getAccessControl": "getAccessControl",
    "HEAD checkAccess": "checkAccess",
    "PATCH append": "appendData",
    "PATCH flush": "flushData",
    "PATCH setProperties": "setPathProperties",
    "PATCH setAccessControl": "setAccessControl",
    "PATCH setAccessControlRecursive": "setAccessControlRecursive",
    POST: "leasePath",
    DELETE: "deletePath",
  },
} as const;

type Level = keyof typeof DATALAKE_ROUTES;
type RoutesOf<L extends Level> = (typeof DATALAKE_ROUTES)[L][keyof (typeof DATALAKE_ROUTES)[L]];
export type DataLakeOperationName =
  | RoutesOf<"account">
  | RoutesOf<"filesystem">
  | RoutesOf<"path">
  | "renamePath";

export const RENAME_SOURCE = "x-ms-rename-source";

/** `path` is the part after the account: `/`, `/filesystem` or `/filesystem/path…`, encoded. */
export function routeDataLake(
  method: string,
  path: string,
  query: Query,
  headers: RequestHeaders,
): DataLakeRoute {
  const { container, blob } = addressOf(path);
  const to = (operation: DataLakeOperationName) => ({ operation, container, blob });
  if (container === "") return to(operationIn("account", method, query, "resource"));
  const isFilesystem = query.get("resource")?.toLowerCase() === "filesystem";
  if (isFilesystem) {
    if (blob !== "") throw new Fault("InvalidUri", { Reason: "Name the file system alone." });
    const operation = operationIn("filesystem", method, query, "resource");
    if (operation !== "listPaths") return to(operation);
    return { operation, container, blob: pathText(nameFromQuery(query, "directory")) };
  }
  if (method === "PUT" && headers.get(RENAME_SOURCE) !== undefined) return to("renamePath");
  const operation = operationIn("path", method, query, method === "PUT" ? "resource" : "action");
  if (blob === "" && !ON_ROOT.has(operation)) {
    throw new Fault("MissingRequiredQueryParameter", {
      QueryParameterName: "resource",
      Reason: "Name a path behind the file system, or add resource=filesystem.",
    });
  }
  return to(operation);
}

/** What can be asked of the root directory, which is always there. */
const ON_ROOT: ReadonlySet<DataLakeOperationName> = new Set([
  "getPathProperties",
  "getPathStatus",
  "getAccessControl",
  "checkAccess",
  "setPathProperties",
  "setAccessControl",
  "setAccessControlRecursive",
]);

function operationIn(
  level: Level,
  method: string,
  query: Query,
  parameter: "resource" | "action",
): DataLakeOperationName {
  const routes: Readonly<Record<string, DataLakeOperationName>> = DATALAKE_ROUTES[level];
  const value = query.get(parameter) ?? "";
  const usual = routes[value === "" ? method : `${method} ${value}`];
  if (usual !== undefined) return usual;
  const plain = (text: string) => text.toLowerCase();
  const wanted = plain(value === "" ? method : `${method} ${value}`);
  const found = Object.entries(routes).find(([route]) => plain(route) === wanted);
  if (found !== undefined) return found[1];
  const ofMethod = Object.keys(routes).filter((route) => route.split(" ")[0] === method);
  if (ofMethod.length === 0) throw new Fault("UnsupportedHttpVerb", { Method: method });
  requireFromQuery(query, parameter);
  const values = ofMethod.map((route) => route.split(" ")[1] ?? "").filter((one) => one !== "");
  throw invalidQuery(parameter, value, `It must be ${values.join(", ") || "left out"}.`);
}

function addressOf(path: string): { container: string; blob: string } {
  const rest = path.startsWith("/") ? path.slice(1) : path;
  const slash = rest.indexOf("/");
  const container = decode(slash < 0 ? rest : rest.slice(0, slash));
  return { container, blob: slash < 0 ? "" : pathText(decode(rest.slice(slash + 1))) };
}

/**
 * A path without slashes at its ends. Backslashes separate, too. As the service does, resolves
 * `.` and `..`, which some clients encode so that their URL parsers leave them alone.
 */
export function pathText(text: string): string {
  if (!UNUSUAL.test(text)) return text;
  const path = text.replaceAll("\\", "/").replace(/^\/+|\/+$/g, "");
  return DOTS.test(path) ? withoutDots(path) : path;
}

/** What a path has that is not as it is stored, and a few that are. */
const UNUSUAL = /\\|^\/|\/$|^\.|\/\./;
const DOTS = /(?:^|\/)\.\.?(?:\/|$)/;

function withoutDots(path: string): string {
  const names: string[] = [];
  for (const name of path.split("/")) {
    if (name === "..") names.pop();
    else if (name !== ".") names.push(name);
  }
  return names.join("/");
}

function decode(encoded: string): string {
  const decoded = percentDecode(encoded);
  if (decoded === null) throw new Fault("InvalidUri");
  return decoded;
}
