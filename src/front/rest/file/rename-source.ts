import { wholeBody } from "../../../base/bytes.ts";
import { isPercentEncoded } from "../../../base/percent-text.ts";
import type { FileAsked } from "../../../service/file/context.ts";
import { hasAccountAccess } from "../auth/token-access.ts";
import type { RestRequest } from "../http/exchange.ts";
import { parseQuery } from "../http/query.ts";
import { RequestFacts } from "../http/request-facts.ts";
import { flagOf, invalidHeader, leaseIdOf, requireHeader } from "../request-headers.ts";
import type { FileCall } from "./call.ts";

const SOURCE = "x-ms-file-rename-source";
const ABSOLUTE = /^https?:\/\/([^/?#]+)(\/[^?#]*)(?:\?([^#]*))?$/i;
const SHOWN_CHARS_MAX = 200;

/**
 * Reads the source of a rename: a URL of the same share. A client that uses a SAS needs one for the
 * source, too, in that URL. A SAS in that URL is never ignored.
 */
export async function renameSourceOf(call: FileCall): Promise<FileAsked> {
  const { headers } = call.request;
  const url = requireHeader(headers, SOURCE);
  const request = sourceRequest(call.request, url);
  const { account, route } = call.inner.route(request, null);
  if (account !== call.account || route.share !== call.route.share) {
    throw invalid(url, "A rename stays within one share: the source must be in the same.");
  }
  return {
    at: {
      account,
      share: route.share,
      snapshot: null,
      path: route.path,
      trailingDots: flagOf(headers, "x-ms-source-allow-trailing-dot"),
    },
    access:
      hasAccountAccess(call.access) && request.query.get("sig") === undefined
        ? call.access
        : await call.inner.access(request),
    leaseId: leaseIdOf(headers, "x-ms-source-lease-id"),
  };
}

/** Makes the request that would reach the source. */
function sourceRequest(outer: RestRequest, url: string): RestRequest {
  const [, host = "", path = "", query = ""] = ABSOLUTE.exec(url) ?? [];
  if (host === "" || !isPercentEncoded(url))
    throw invalid(url, "It must be an absolute URL, percent-encoded.");
  const headers = new Map([
    ["host", host],
    ["x-ms-version", outer.version],
  ]);
  // A SAS that is bound to a user needs the user's token, which is valid for any request.
  const authorization = outer.headers.get("authorization");
  if (authorization !== undefined && /^bearer /i.test(authorization)) {
    headers.set("authorization", authorization);
  }
  return {
    id: outer.id,
    method: "PUT",
    target: path,
    path,
    query: parseQuery(query),
    headers: { get: (name) => headers.get(name), raw: [...headers].flat() },
    version: outer.version,
    body: wholeBody(Buffer.alloc(0)),
    secure: outer.secure,
    remoteAddress: outer.remoteAddress,
    receivedMs: outer.receivedMs,
    judgedMs: outer.judgedMs,
    facts: new RequestFacts(),
    wholeBodies: outer.wholeBodies,
  };
}

/** Leaves out the query, which may hold a SAS. */
function invalid(url: string, reason: string) {
  return invalidHeader(SOURCE, url.replace(/\?.*$/, "").slice(0, SHOWN_CHARS_MAX), reason);
}
