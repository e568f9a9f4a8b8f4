import { Fault } from "../../../base/fault.ts";
import { ACL_PATHS_MAX } from "../../../base/limits.ts";
import {
  type FailedPath,
  type SetAccessControlRecursive,
  setAccessControlRecursive,
} from "../../../service/blob/set-access-control-recursive.ts";
import type { BlobFront } from "../blob/call.ts";
import { REST_FAULTS } from "../fault-status.ts";
import type { Query, RestResponse } from "../http/exchange.ts";
import { requireNoHeaders } from "../request-headers.ts";
import { invalidQuery, numberFromQuery, requireFromQuery } from "../request-query.ts";
import { requireNoBody } from "../stored-body.ts";
import { addressOf, type DataLakeCall } from "./call.ts";
import { continuationHeaders, continuationOf } from "./continuation.ts";
import { JSON_CONTENT } from "./json-list.ts";
import { flagFromQuery } from "./query-flag.ts";

/** Owners and permissions are set path by path. */
const SINGLE_PATH = ["x-ms-owner", "x-ms-group", "x-ms-permissions", "x-ms-lease-id"];

export async function handleSetAccessControlRecursive(
  context: BlobFront,
  call: DataLakeCall,
): Promise<RestResponse> {
  const { request } = call;
  const { headers, query } = request;
  requireNoBody(request);
  requireNoHeaders(headers, SINGLE_PATH);
  const acl = headers.get("x-ms-acl");
  if (acl === undefined) throw new Fault("MissingRequiredHeader", { HeaderName: "x-ms-acl" });
  const asked = numberFromQuery(query, "maxrecords", 1, Number.MAX_SAFE_INTEGER);
  const done = await setAccessControlRecursive(context, {
    at: addressOf(call),
    access: call.access,
    mode: modeOf(query),
    acl,
    pathsMax: Math.min(asked ?? ACL_PATHS_MAX, ACL_PATHS_MAX),
    after: continuationOf(query),
    goesOn: flagFromQuery(query, "forceflag"),
  });
  const body = JSON.stringify({
    directoriesSuccessful: done.directories,
    filesSuccessful: done.files,
    failureCount: done.failures.length,
    failedEntries: done.failures.map(failedEntry),
  });
  return {
    status: 200,
    headers: [...continuationHeaders(done.next), ...JSON_CONTENT],
    body: Buffer.from(body),
  };
}

function modeOf(query: Query): SetAccessControlRecursive["mode"] {
  const mode = requireFromQuery(query, "mode").toLowerCase();
  if (mode === "set" || mode === "modify" || mode === "remove") return mode;
  throw invalidQuery("mode", mode, "It must be set, modify or remove.");
}

function failedEntry({ name, kind, code }: FailedPath): object {
  return { name, type: kind.toUpperCase(), errorMessage: REST_FAULTS[code].message };
}
