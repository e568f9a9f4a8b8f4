import { NO_BYTES, wholeBody } from "../../../base/bytes.ts";
import { Fault } from "../../../base/fault.ts";
import { isPercentEncoded } from "../../../base/percent-text.ts";
import type { RenameSource } from "../../../service/blob/rename-path.ts";
import { accessTo, hasAccountAccess } from "../auth/token-access.ts";
import type { RestRequest } from "../http/exchange.ts";
import { parseQuery } from "../http/query.ts";
import { RequestFacts } from "../http/request-facts.ts";
import { conditionsOf, leaseIdOf, requireHeader } from "../request-headers.ts";
import type { DataLakeCall } from "./call.ts";
import { RENAME_SOURCE } from "./route.ts";

/** An origin and a slash, or a slash, or neither; then the path and perhaps a query. */
const SOURCE = /^(?:https?:\/\/[^/?#]+\/|\/)?([^?#]*)(?:\?([^#]*))?$/i;
const SHOWN_CHARS_MAX = 200;

/**
 * Reads the source of a rename: `/filesystem/path`, percent-encoded, with or without the account,
 * and perhaps with a SAS. A client that uses a SAS needs one that covers the source: that of the
 * source, or its own. A SAS is never ignored.
 */
export async function renameSourceOf(call: DataLakeCall): Promise<RenameSource> {
  const { headers } = call.request;
  const text = requireHeader(headers, RENAME_SOURCE);
  const [, path = "", query = ""] = SOURCE.exec(text) ?? [];
  if (path === "" || !isPercentEncoded(text)) {
    throw invalid(text, "It must be /filesystem/path, percent-encoded.");
  }
  const request = sourceRequest(call, `/${path}`, query);
  const { account, route } = routeOf(call, request, text);
  return {
    at: { account, container: route.container, blob: route.blob },
    access:
      hasAccountAccess(call.access) && request.query.get("sig") === undefined
        ? accessTo(call.access, "dfs", route.container)
        : await call.inner.access(request),
    conditions: conditionsOf(headers, "x-ms-source-"),
    leaseId: leaseIdOf(headers, "x-ms-source-lease-id"),
  };
}

function routeOf(call: DataLakeCall, request: RestRequest, text: string) {
  try {
    const found = call.inner.route(request, call.account);
    if (found.account === call.account) return found;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
  }
  throw invalid(text, "It must name a path in a file system of the same account.");
}

/** Makes the request that would reach the source. */
function sourceRequest(
  { request: outer, account, endpoint }: DataLakeCall,
  path: string,
  query: string,
): RestRequest {
  const headers = new Map([
    ["host", outer.headers.get("host") ?? ""],
    ["x-ms-version", outer.version],
  ]);
  // A SAS that is bound to a user needs the user's token, which is valid for any request.
  const authorization = outer.headers.get("authorization");
  if (authorization !== undefined && /^bearer /i.test(authorization)) {
    headers.set("authorization", authorization);
  }
  const own = parseQuery(query);
  // A client may have one SAS for both paths, and name it once.
  const sas = own.get("sig") === undefined ? outer.query : own;
  const target = withAccount(path, account, endpoint);
  return {
    id: outer.id,
    method: "DELETE",
    target,
    path: target,
    query: sas.get("sig") === undefined ? own : withoutOperation(sas),
    headers: { get: (name) => headers.get(name), raw: [...headers].flat() },
    version: outer.version,
    body: wholeBody(NO_BYTES),
    secure: outer.secure,
    remoteAddress: outer.remoteAddress,
    receivedMs: outer.receivedMs,
    judgedMs: outer.judgedMs,
    facts: new RequestFacts(),
    wholeBodies: outer.wholeBodies,
  };
}

/** The SAS alone: the parameters of the rename are none of the source's. */
function withoutOperation(query: RestRequest["query"]): RestRequest["query"] {
  const others: ReadonlySet<string> = new Set(["resource", "action", "mode", "continuation"]);
  return {
    get: (name) => (others.has(name) ? undefined : query.get(name)),
    form: (name) => (others.has(name) ? undefined : query.form(name)),
    entries: query.entries.filter(([name]) => !others.has(name)),
  };
}

/** Adds the account to a path that leaves it out, unless the host names it. */
function withAccount(path: string, account: string, endpoint: string): string {
  const isInHost = !endpoint.endsWith(`/${account}/`);
  const [, first, , third] = path.split("/", 4);
  return isInHost || (first === account && third !== undefined) ? path : `/${account}${path}`;
}

/** Leaves out the query, which may hold a SAS. */
function invalid(text: string, reason: string): Fault {
  const shown = text.replace(/\?.*$/, "").slice(0, SHOWN_CHARS_MAX);
  return new Fault("InvalidSourceUri", { SourceUri: shown, Reason: reason });
}
