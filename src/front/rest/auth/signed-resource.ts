import { Fault } from "../../../base/fault.ts";
import { authenticationFailed } from "./refusals.ts";
import type { Resource, ServiceName } from "./resource.ts";
import { requireSasField, type SasFields, sasField } from "./sas-fields.ts";

/** The resource types that `sr` can name, each with its first version. */
const BLOB_KINDS: ReadonlyMap<string, string> = new Map([
  ["c", ""],
  ["b", ""],
  ["bs", "2018-11-09"],
  ["bv", "2018-11-09"],
  ["d", "2020-02-10"],
]);
const FILE_KINDS: ReadonlyMap<string, string> = new Map([
  ["s", "2015-02-21"],
  ["f", "2015-02-21"],
]);

/** Since this version, the resource is signed with the service in front. */
const SERVICE_IN_PATH_FROM = "2015-02-21";
const DEPTH = /^\d{1,4}$/;

/**
 * Returns the resource as written in the string to sign: the one that a token of this type must be
 * for to grant the addressed resource.
 */
export function signedResource(
  query: SasFields,
  resource: Resource,
  accountName: string,
  version: string,
): string {
  const service = resource.service === "dfs" ? "blob" : resource.service;
  const root = version >= SERVICE_IN_PATH_FROM ? `/${service}/${accountName}` : `/${accountName}`;
  if (service === "queue") {
    requireKindIfGiven(query, "q");
    return `${root}/${resource.container}`;
  }
  if (service === "table") {
    requireKindIfGiven(query, "t");
    return `${root}/${signedTable(query, resource)}`;
  }
  const container = `${root}/${resource.container}`;
  switch (signedKind(query, resource.service, version)) {
    case "c":
    case "s":
      return container;
    case "d":
      return `${container}${directoryOf(resource.name, depthOf(query))}`;
    default:
      // The slash remains without a name, so that a token for an object never grants its container.
      return `${container}/${resource.name}`;
  }
}

/** Whether a token is for one blob, snapshot or version, and not for all in a container or directory. */
export function isForOneBlob(query: SasFields): boolean {
  return ["b", "bs", "bv"].includes(query.get("sr") ?? "");
}

/** Returns the snapshot or version that a token is bound to. */
export function signedTime(query: SasFields): string {
  switch (query.get("sr")) {
    case "bs":
      return sasField(query, "snapshot");
    case "bv":
      return sasField(query, "versionid");
    default:
      return "";
  }
}

function signedKind(query: SasFields, service: ServiceName, version: string): string {
  const kind = requireSasField(query, "sr");
  const kinds = service === "file" ? FILE_KINDS : BLOB_KINDS;
  const from = kinds.get(kind);
  if (from === undefined || version < from) {
    throw authenticationFailed(
      `sr=${kind} is not known to the ${service} service in version ${version || "2009-09-19"}. ` +
        `It knows ${[...kinds.keys()].join(", ")}.`,
    );
  }
  return kind;
}

/**
 * Checks `sr` where only one type exists: it is not signed and optional, but must not name another.
 */
function requireKindIfGiven(query: SasFields, kind: string): void {
  const given = sasField(query, "sr");
  if (given !== "" && given !== kind) {
    throw authenticationFailed(`sr=${given} is not known to this service. It knows ${kind}.`);
  }
}

/** Reads the table from the token, since a batch does not name it in its path. */
function signedTable(query: SasFields, resource: Resource): string {
  const table = requireSasField(query, "tn").toLowerCase();
  if (resource.container !== "" && resource.container.toLowerCase() !== table) {
    throw authenticationFailed("tn names another table than the request.");
  }
  return table;
}

function depthOf(query: SasFields): number {
  const depth = sasField(query, "sdd");
  if (depth === "") throw new Fault("QueryParameterSasMandatory");
  if (!DEPTH.test(depth)) throw new Fault("QueryParameterSddInvalid");
  return Number(depth);
}

/**
 * Returns the ancestor directory at this depth on the path `name`, with a leading slash; "" for the
 * root.
 */
function directoryOf(name: string, depth: number): string {
  let end = 0;
  for (let level = 0; level < depth && end < name.length; level++) {
    const slash = name.indexOf("/", level === 0 ? 0 : end + 1);
    end = slash < 0 ? name.length : slash;
  }
  return end === 0 ? "" : `/${name.slice(0, end)}`;
}
