import { STATUS_CODES } from "node:http";
import { type Bytes, wholeBody } from "../../base/bytes.ts";
import type { RequestHeaders, RestRequest, RestResponse } from "./http/exchange.ts";
import { parseQuery } from "./http/query.ts";
import { RequestFacts } from "./http/request-facts.ts";
import { brokenBatch, CRLF, type Part, readPart } from "./multipart.ts";

/** A request inside a batch, and its Content-ID. */
export interface InnerRequest {
  /** Has the host, id, version and time of the batch. */
  readonly request: RestRequest;
  readonly contentId: string | null;
}

const REQUEST_LINE = /^([A-Z]+) (\S+) HTTP\/1\.[01]$/;
const ORIGIN = /^https?:\/\/[^/?]*/i;

export function readInnerRequest(outer: RestRequest, part: Part): InnerRequest {
  const type = part.headers.get("content-type")?.toLowerCase();
  if (type?.startsWith("application/http") !== true) {
    throw brokenBatch("Each operation must be of type application/http.");
  }
  const content = part.content.trimStart();
  const lineEnd = content.indexOf("\n");
  const line = (lineEnd < 0 ? content : content.slice(0, lineEnd)).trimEnd();
  const [, method, url] = REQUEST_LINE.exec(line) ?? [];
  if (method === undefined || url === undefined) throw brokenBatch(`'${line}' is no request.`);
  const { headers, content: body } = readPart(lineEnd < 0 ? "" : content.slice(lineEnd + 1));
  const inherited = new Map([
    ["host", outer.headers.get("host")],
    ["x-ms-version", outer.version],
  ]);
  return {
    contentId: headers.get("content-id") ?? part.headers.get("content-id") ?? null,
    request: requestInside(outer, {
      method,
      target: url.replace(ORIGIN, ""),
      headers: {
        get: (name) => headers.get(name) ?? inherited.get(name),
        raw: [...headers].flat(),
      },
      body: Buffer.from(body, "utf8"),
    }),
  };
}

interface Inside {
  readonly method: string;
  readonly target: string;
  readonly headers: RequestHeaders;
  readonly body: Bytes;
}

/** A request with the id, version, time and peer of the one that it came in. */
export function requestInside(
  outer: RestRequest,
  { method, target, headers, body }: Inside,
): RestRequest {
  const mark = target.indexOf("?");
  return {
    id: outer.id,
    version: outer.version,
    secure: outer.secure,
    remoteAddress: outer.remoteAddress,
    receivedMs: outer.receivedMs,
    judgedMs: outer.judgedMs,
    gate: outer.gate,
    cut: () => outer.cut?.(),
    wholeBodies: outer.wholeBodies,
    method,
    target,
    path: mark < 0 ? target : target.slice(0, mark),
    query: parseQuery(mark < 0 ? "" : target.slice(mark + 1)),
    headers,
    body: wholeBody(body),
    facts: new RequestFacts(),
  };
}

/** Renders one response of a batch, with the `headers` of its part in front. */
export function renderInnerResponse(
  headers: readonly string[],
  { status, headers: own, body }: RestResponse,
): string {
  const lines = [
    "Content-Type: application/http",
    ...headers,
    "",
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
  ];
  for (let at = 0; at < own.length; at += 2) lines.push(`${own[at]}: ${own[at + 1]}`);
  return [...lines, "", body ?? ""].join(CRLF);
}
