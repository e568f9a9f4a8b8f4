import { wholeBody } from "../../../base/bytes.ts";
import { BATCH_OPERATIONS_MAX } from "../../../base/limits.ts";
import type { RestRequest } from "../http/exchange.ts";
import { parseQuery } from "../http/query.ts";
import { boundaryOf, brokenBatch, type Part, readPart, readParts } from "./multipart.ts";

/** A request inside a batch. */
export interface InnerRequest {
  /** Looks like any other; it has the id, the version and the time of the batch. */
  readonly request: RestRequest;
  /** What follows the account, percent-encoded. */
  readonly path: string;
  readonly contentId: string | null;
}

export interface BatchRequest {
  /** Whether the requests are one change set, which happens as a whole. */
  readonly isChangeSet: boolean;
  readonly inner: readonly InnerRequest[];
}

/** `endpoint` is the URL of the account, with a slash at its end. */
export function readBatch(outer: RestRequest, text: string, endpoint: string): BatchRequest {
  const boundary = boundaryOf(outer.headers.get("content-type"));
  if (boundary === null) throw brokenBatch("Its Content-Type must be multipart/mixed; boundary=….");
  const [part, ...others] = readParts(text, boundary, BATCH_OPERATIONS_MAX);
  if (part === undefined || others.length > 0) {
    throw brokenBatch("It must hold one change set, or one query.");
  }
  const base = new URL(endpoint).pathname;
  const changeSet = boundaryOf(part.headers.get("content-type"));
  if (changeSet === null) return { isChangeSet: false, inner: [innerOf(outer, part, base)] };
  const parts = readParts(part.content, changeSet, BATCH_OPERATIONS_MAX);
  if (parts.length === 0) throw brokenBatch("Its change set is empty.");
  return { isChangeSet: true, inner: parts.map((one) => innerOf(outer, one, base)) };
}

const REQUEST_LINE = /^([A-Z]+) (\S+) HTTP\/1\.[01]$/;
const ORIGIN = /^https?:\/\/[^/?]*/i;

function innerOf(outer: RestRequest, part: Part, base: string): InnerRequest {
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
  const target = url.replace(ORIGIN, "");
  const mark = target.indexOf("?");
  const path = mark < 0 ? target : target.slice(0, mark);
  return {
    contentId: headers.get("content-id") ?? part.headers.get("content-id") ?? null,
    path: withoutBase(path, base),
    request: {
      id: outer.id,
      version: outer.version,
      secure: outer.secure,
      remoteAddress: outer.remoteAddress,
      receivedMs: outer.receivedMs,
      method,
      target,
      path,
      query: parseQuery(mark < 0 ? "" : target.slice(mark + 1)),
      headers: { get: (name) => headers.get(name), raw: [...headers].flat() },
      body: wholeBody(Buffer.from(body, "utf8")),
    },
  };
}

/** The URL of an operation leads to the same account as that of its batch. */
function withoutBase(path: string, base: string): string {
  if (!path.startsWith("/")) return `/${path}`;
  if (path.startsWith(base)) return path.slice(base.length - 1);
  throw brokenBatch("The URL of an operation names another account.");
}
