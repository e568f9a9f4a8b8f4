import type { RestRequest } from "../http/exchange.ts";
import { acceptsType } from "../request-headers.ts";
import { RENAME_SOURCE } from "./route.ts";

type Asked = Pick<RestRequest, "method" | "query" | "headers">;

/**
 * The protocol of a request to a listener of the Blob service. Both come to either listener:
 * clients that know the server by its address alone send both to the same one.
 */
export type Protocol = "blob" | "dfs";

/** `isDataLake`: the request came to the Data Lake endpoint, by its port or its host name. */
export function spokenProtocol(request: Asked, isDataLake: boolean): Protocol {
  const { method, query } = request;
  if (query.get("resource") !== undefined || query.get("action") !== undefined) return "dfs";
  if (query.get("comp") !== undefined || query.get("restype") !== undefined) return "blob";
  if (method === "PATCH" || method === "POST") return "dfs";
  if (method === "PUT" && request.headers.get(RENAME_SOURCE) !== undefined) return "dfs";
  return isDataLake && !isBlobRequest(request) ? "dfs" : "blob";
}

/**
 * Whether a request that both protocols have is one of the Blob protocol: by what only that has, or
 * by the format in which the client accepts errors.
 */
function isBlobRequest({ method, query, headers }: Asked): boolean {
  if (method === "OPTIONS") return true;
  const names = method === "PUT" ? UPLOAD_HEADERS : DELETE_HEADERS;
  if (names.some((name) => headers.get(name) !== undefined)) return true;
  if (query.get("snapshot") !== undefined || query.get("versionid") !== undefined) return true;
  return method !== "PUT" && acceptsType(headers, "application/xml");
}

const UPLOAD_HEADERS = ["x-ms-blob-type", "x-ms-copy-source"];
const DELETE_HEADERS = ["x-ms-delete-snapshots"];

/** Whether a host name is that of an account's Data Lake endpoint: `account.dfs.…`. */
export function isDataLakeHost(host: string | undefined): boolean {
  const dot = host?.indexOf(".") ?? -1;
  return (
    dot > 0 && host?.slice(dot, dot + DATA_LAKE_LABEL.length).toLowerCase() === DATA_LAKE_LABEL
  );
}

const DATA_LAKE_LABEL = ".dfs.";
