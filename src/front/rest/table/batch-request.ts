import { PIECE_BYTES, type Steps } from "../../../base/fair-queue.ts";
import { BATCH_OPERATIONS_MAX } from "../../../base/limits.ts";
import type { RestRequest } from "../http/exchange.ts";
import { type InnerRequest, readInnerRequest } from "../inner-request.ts";
import { boundaryOf, brokenBatch, type Part, readParts } from "../multipart.ts";

/** A request inside a batch. */
export interface InnerTableRequest extends InnerRequest {
  /** The part after the account, percent-encoded. */
  readonly path: string;
}

export interface BatchRequest {
  /** Whether the requests are one change set, which happens as a whole. */
  readonly isChangeSet: boolean;
  readonly inner: readonly InnerTableRequest[];
}

/** Reads a batch in slices. `endpoint` is the URL of the account, with a trailing slash. */
export function* readBatchInSteps(
  outer: RestRequest,
  text: string,
  endpoint: string,
): Steps<BatchRequest> {
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
  const inner: InnerTableRequest[] = [];
  let chars = 0;
  for (const one of parts) {
    inner.push(innerOf(outer, one, base));
    chars += one.content.length;
    if (chars < PIECE_BYTES) continue;
    chars = 0;
    yield;
  }
  return { isChangeSet: true, inner };
}

function innerOf(outer: RestRequest, part: Part, base: string): InnerTableRequest {
  const { request, contentId } = readInnerRequest(outer, part);
  return { request, contentId, path: withoutBase(request.path, base) };
}

/**
 * Removes the account from an operation's path; it must be the account of the batch. Some clients
 * leave it out: then the path has one segment, a table or an entity.
 */
function withoutBase(path: string, base: string): string {
  if (!path.startsWith("/")) return `/${path}`;
  if (path.startsWith(base)) return path.slice(base.length - 1);
  if (path.indexOf("/", 1) < 0) return path;
  throw brokenBatch("The URL of an operation names another account.");
}
