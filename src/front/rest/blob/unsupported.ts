import { Fault } from "../../../base/fault.ts";
import { stampOfIso } from "../../../base/stamp.ts";
import type { Query, RequestHeaders } from "../http/exchange.ts";
import { refuseHeaders } from "../request-headers.ts";
import { invalidQuery } from "../request-query.ts";

/** What has no meaning here yet is refused: a client must not believe that it took effect. */

const ON_ANY = [
  "x-ms-if-tags",
  "x-ms-encryption-key",
  "x-ms-encryption-key-sha256",
  "x-ms-encryption-algorithm",
];

const ON_WRITES = [
  ...ON_ANY,
  "x-ms-encryption-scope",
  "x-ms-tags",
  "x-ms-access-tier",
  "x-ms-rehydrate-priority",
  "x-ms-immutability-policy-until-date",
  "x-ms-immutability-policy-mode",
  "x-ms-legal-hold",
  "x-ms-expiry-option",
  "x-ms-expiry-time",
  "x-ms-blob-content-length",
  "x-ms-blob-sequence-number",
  "x-ms-sequence-number-action",
];

const ON_DELETE = [
  ...ON_ANY,
  "x-ms-access-tier-if-modified-since",
  "x-ms-access-tier-if-unmodified-since",
];

interface Asked {
  readonly headers: RequestHeaders;
  readonly query: Query;
}

export function refuseUnsupportedOnRead({ headers, query }: Asked): void {
  refuseHeaders(headers, ON_ANY);
  refuseVersions(query);
}

/** `known` are those of the headers that this operation does understand. */
export function refuseUnsupportedOnWrite(
  { headers, query }: Asked,
  known: readonly string[] = [],
): void {
  refuseHeaders(
    headers,
    known.length === 0 ? ON_WRITES : ON_WRITES.filter((name) => !known.includes(name)),
  );
  for (const name of VERSIONS) {
    const value = query.get(name);
    if (value !== undefined) {
      throw invalidQuery(name, value, "Only the current version of a blob can be written.");
    }
  }
}

export function refuseUnsupportedOnDelete({ headers, query }: Asked): void {
  refuseHeaders(headers, ON_DELETE);
  refuseVersions(query);
  if (query.get("deletetype") !== undefined) {
    throw new Fault("UnsupportedQueryParameter", {
      QueryParameterName: "deletetype",
      Reason: "Blobs are not kept when they are deleted: delete without it.",
    });
  }
}

const VERSIONS = ["snapshot", "versionid"];

/** No blob has snapshots or older versions yet: whichever is asked for does not exist. */
function refuseVersions(query: Query): void {
  for (const name of VERSIONS) {
    const value = query.get(name);
    if (value === undefined) continue;
    if (stampOfIso(value) === null) {
      throw invalidQuery(name, value, "It must look like 2026-11-16T00:17:23.1234567Z.");
    }
    throw new Fault("BlobNotFound", { QueryParameterName: name, QueryParameterValue: value });
  }
}
