import { Fault } from "../../../base/fault.ts";
import { percentDecode } from "../../../base/percent-text.ts";
import type { Query, RequestHeaders } from "../http/exchange.ts";
import { operationAt } from "../operation-at.ts";

/**
 * The operation and address of a request, found by method, path and query (and a header on PUT).
 */
export interface FileRoute {
  readonly operation: FileOperationName;
  /** Decoded; "" where the operation has none. */
  readonly share: string;
  /** Names of the directories and of the addressed item, decoded; empty for the root. */
  readonly path: readonly string[];
}

type Level = "account" | "share" | "directory" | "file";

/**
 * All operations of the service, by level, method and `comp` (with `restype` for the account). Each
 * is named after the file that handles it.
 */
export const FILE_ROUTES = {
  account: {
    "GET properties service": "getServiceProperties",
    "PUT properties service": "setServiceProperties",
    "POST userdelegationkey service": "getUserDelegationKey",
    "GET list": "listShares",
  },
  share: {
    PUT: "createShare",
    GET: "getShareProperties",
    DELETE: "deleteShare",
    "GET metadata": "getShareMetadata",
    "PUT metadata": "setShareMetadata",
    "PUT properties": "setShareProperties",
    "GET acl": "getShareAcl",
    "PUT acl": "setShareAcl",
    "GET stats": "getShareStats",
    "GET lazuli-snapshots": "listShareSnapshots",
    "PUT lease": "leaseShare",
    "PUT snapshot": "snapshotShare",
    "PUT undelete": "undeleteShare",
    "PUT filepermission": "createPermission",
    "GET filepermission": "getPermission",
  },
  directory: {
    PUT: "createDirectory",
    GET: "getDirectoryProperties",
    DELETE: "deleteDirectory",
    "GET metadata": "getDirectoryMetadata",
    "PUT metadata": "setDirectoryMetadata",
    "PUT properties": "setDirectoryProperties",
    "PUT rename": "renameDirectory",
    "GET list": "listDirectoriesAndFiles",
    "GET listhandles": "listHandles",
    "PUT forceclosehandles": "forceCloseHandles",
  },
  file: {
    PUT: "createFile",
    GET: "getFile",
    HEAD: "getFileProperties",
    DELETE: "deleteFile",
    "GET metadata": "getFileMetadata",
    "PUT metadata": "setFileMetadata",
    "PUT properties": "setFileProperties",
    "PUT range": "putRange",
    "GET rangelist": "listRanges",
    "PUT lease": "leaseFile",
    "PUT copy": "abortCopyFile",
    "PUT rename": "renameFile",
    "GET listhandles": "listHandles",
    "PUT forceclosehandles": "forceCloseHandles",
  },
} as const;

const ABOVE_FILES: ReadonlySet<string> = new Set([
  ...Object.values(FILE_ROUTES.account),
  ...Object.values(FILE_ROUTES.share),
]);

/** Whether an operation is on a file or directory, not on a share or the whole service. */
export function isOnFiles(operation: FileOperationName): boolean {
  return !ABOVE_FILES.has(operation);
}

type RoutesOf<L extends Level> = (typeof FILE_ROUTES)[L][keyof (typeof FILE_ROUTES)[L]];
export type FileOperationName =
  | { [L in Level]: RoutesOf<L> }[Level]
  | "copyFile"
  | "putRangeFromUrl"
  | "createSymbolicLink"
  | "getSymbolicLink"
  | "createHardLink";

/**
 * `path` is the path after the account: `/`, `/share` or `/share/directory/file`, percent-encoded.
 */
export function routeFile(
  method: string,
  path: string,
  query: Query,
  headers: RequestHeaders,
): FileRoute {
  const restype = query.get("restype")?.toLowerCase() ?? "";
  const at = addressOf(path);
  const link = linkOperation(method, restype);
  if (link !== null) return { operation: link, share: at.share, path: at.path };
  const level = levelOf(at, restype, query);
  const operation = fromUrl(
    operationAt<FileOperationName>(FILE_ROUTES[level], level, method, query),
    headers,
  );
  return { operation, share: at.share, path: at.path };
}

function linkOperation(method: string, restype: string): FileOperationName | null {
  if (restype === "hardlink" && method === "PUT") return "createHardLink";
  if (restype !== "symboliclink") return null;
  if (method === "PUT") return "createSymbolicLink";
  return method === "GET" || method === "HEAD" ? "getSymbolicLink" : null;
}

/** Clients ask for handles of the root without `restype=directory`. */
function levelOf({ share, path }: Address, restype: string, query: Query): Level {
  if (share === "") return "account";
  const isRoot = path.length === 0;
  switch (restype) {
    case "share":
      if (isRoot) return "share";
      throw new Fault("InvalidUri", { Reason: "A share is addressed by its name alone." });
    case "directory":
      return "directory";
    case "":
      if (!isRoot) return "file";
      if (isOnHandles(query)) return "directory";
      throw new Fault("MissingRequiredQueryParameter", { QueryParameterName: "restype" });
    default:
      throw new Fault("InvalidQueryParameterValue", {
        QueryParameterName: "restype",
        QueryParameterValue: restype,
        Reason: "It must be share or directory, or left out for a file.",
      });
  }
}

function isOnHandles(query: Query): boolean {
  const comp = query.get("comp");
  return comp === "listhandles" || comp === "forceclosehandles";
}

/** A copy source in the headers turns a write into its from-URL form. */
function fromUrl(operation: FileOperationName, headers: RequestHeaders): FileOperationName {
  if (headers.get("x-ms-copy-source") === undefined) return operation;
  if (operation === "createFile") return "copyFile";
  return operation === "putRange" ? "putRangeFromUrl" : operation;
}

type Address = Pick<FileRoute, "share" | "path">;

/** Splits a path. Ignores empty segments; encoded slashes separate names, too. */
function addressOf(path: string): Address {
  const decoded = percentDecode(path);
  if (decoded === null) throw new Fault("InvalidUri");
  const [share = "", ...names] = decoded.split("/").filter((name) => name !== "");
  return { share, path: names };
}
