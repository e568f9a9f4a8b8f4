import { Fault } from "../../../base/fault.ts";
import { percentDecode } from "../../../base/percent-text.ts";
import type { Query, RequestHeaders } from "../http/exchange.ts";
import { operationAt } from "../operation-at.ts";
import { flagOf } from "../request-headers.ts";

/** The operation and address of a request, from its method, path, query and some PUT headers. */
export interface BlobRoute {
  readonly operation: BlobOperationName;
  /** Decoded; "" if the operation has none. */
  readonly container: string;
  readonly blob: string;
}

type Level = "account" | "container" | "blob";

/**
 * Every operation of the service, by level, method and `comp` (with `restype` for the account).
 * The names are those of the files that handle them.
 */
export const BLOB_ROUTES = {
  account: {
    "GET properties service": "getServiceProperties",
    "PUT properties service": "setServiceProperties",
    "GET stats service": "getServiceStats",
    "GET list": "listContainers",
    "GET blobs": "findBlobsByTags",
    "POST batch": "batch",
    // The SDK for JavaScript mistakes the account in a path for a container.
    "POST batch container": "batch",
    "POST userdelegationkey service": "getUserDelegationKey",
  },
  container: {
    PUT: "createContainer",
    GET: "getContainerProperties",
    DELETE: "deleteContainer",
    "GET metadata": "getContainerMetadata",
    "PUT metadata": "setContainerMetadata",
    "GET acl": "getContainerAcl",
    "PUT acl": "setContainerAcl",
    "PUT lease": "leaseContainer",
    "PUT undelete": "undeleteContainer",
    "PUT rename": "renameContainer",
    "GET list": "listBlobs",
    "GET blobs": "findBlobsByTags",
    "POST batch": "batch",
    "POST lazuli-pipeline": "pipeline",
  },
  blob: {
    PUT: "putBlob",
    GET: "getBlob",
    HEAD: "getBlobProperties",
    DELETE: "deleteBlob",
    "GET metadata": "getBlobMetadata",
    "PUT metadata": "setBlobMetadata",
    "PUT properties": "setBlobProperties",
    "PUT lease": "leaseBlob",
    "PUT snapshot": "snapshotBlob",
    "PUT copy": "abortCopyBlob",
    "PUT block": "putBlock",
    "PUT blocklist": "putBlockList",
    "GET blocklist": "getBlockList",
    "PUT page": "putPage",
    "GET pagelist": "getPageRanges",
    "PUT appendblock": "appendBlock",
    "PUT seal": "sealBlob",
    "PUT tier": "setBlobTier",
    "GET tags": "getBlobTags",
    "PUT tags": "setBlobTags",
    "PUT undelete": "undeleteBlob",
    "PUT expiry": "setBlobExpiry",
    "PUT immutabilityPolicies": "setImmutabilityPolicy",
    "DELETE immutabilityPolicies": "deleteImmutabilityPolicy",
    "PUT legalhold": "setLegalHold",
    "PUT incrementalcopy": "copyBlobIncrementally",
    "POST query": "queryBlob",
    "PUT lazuli-revision": "placeRevision",
    "GET lazuli-block": "getBlock",
  },
} as const;

type RoutesOf<L extends Level> = (typeof BLOB_ROUTES)[L][keyof (typeof BLOB_ROUTES)[L]];
export type BlobOperationName =
  | RoutesOf<"account">
  | RoutesOf<"container">
  | RoutesOf<"blob">
  | "getAccountInformation"
  | "copyBlob"
  | "copyBlobFromUrl"
  | "putBlobFromUrl"
  | "putBlockFromUrl"
  | "putPageFromUrl"
  | "appendBlockFromUrl";

/** `path` is the part after the account: `/`, `/container` or `/container/blob…`, encoded. */
export function routeBlob(
  method: string,
  path: string,
  query: Query,
  headers: RequestHeaders,
): BlobRoute {
  const restype = query.get("restype")?.toLowerCase() ?? "";
  const at = addressOf(path, restype);
  if (restype === "account" && query.get("comp") === "properties") {
    if (method === "GET" || method === "HEAD") return routeTo("getAccountInformation", at);
  }
  const level = levelOf(at, restype);
  const operation = operationAt<BlobOperationName>(BLOB_ROUTES[level], level, method, query);
  return routeTo(fromUrl(operation, headers), at);
}

function routeTo(operation: BlobOperationName, at: Omit<BlobRoute, "operation">): BlobRoute {
  return { operation, container: at.container, blob: at.blob };
}

/**
 * Operations on a container need `restype=container`, so that a request that lacks a blob's name by
 * mistake does not hit the container.
 */
function levelOf({ container, blob }: Omit<BlobRoute, "operation">, restype: string): Level {
  if (container === "" && blob === "") return "account";
  switch (restype) {
    case "container":
      if (blob === "") return "container";
      throw new Fault("InvalidUri", { Reason: "A container is addressed by its name alone." });
    case "":
      if (blob !== "") return "blob";
      throw new Fault("MissingRequiredQueryParameter", {
        QueryParameterName: "restype",
        Reason: "Name the blob behind the slash, or add restype=container.",
      });
    default:
      throw new Fault("InvalidQueryParameterValue", {
        QueryParameterName: "restype",
        QueryParameterValue: restype,
        Reason: "It must be container, or left out for a blob.",
      });
  }
}

/** A copy source in the headers turns a write into its from-URL form. */
function fromUrl(operation: BlobOperationName, headers: RequestHeaders): BlobOperationName {
  if (headers.get("x-ms-copy-source") === undefined) return operation;
  switch (operation) {
    case "putBlob":
      if (headers.get("x-ms-blob-type") !== undefined) return "putBlobFromUrl";
      return flagOf(headers, "x-ms-requires-sync") ? "copyBlobFromUrl" : "copyBlob";
    case "putBlock":
      return "putBlockFromUrl";
    case "putPage":
      return "putPageFromUrl";
    case "appendBlock":
      return "appendBlockFromUrl";
    default:
      return operation;
  }
}

/** The blob's name is all that follows the container, decoded once. A lone name is in `$root`. */
function addressOf(path: string, restype: string): { container: string; blob: string } {
  const rest = path.startsWith("/") ? path.slice(1) : path;
  const slash = rest.indexOf("/");
  if (slash < 0) {
    const isWhole = rest === "" || restype === "container" || restype === "account";
    if (isWhole) return { container: decode(rest), blob: "" };
    return { container: "$root", blob: blobName(rest) };
  }
  return { container: decode(rest.slice(0, slash)), blob: blobName(rest.slice(slash + 1)) };
}

/** The service treats a backslash as a slash, and clients sign the name with slashes. */
function blobName(encoded: string): string {
  return decode(encoded).replaceAll("\\", "/");
}

function decode(encoded: string): string {
  const decoded = percentDecode(encoded);
  if (decoded === null) throw new Fault("InvalidUri");
  return decoded;
}
