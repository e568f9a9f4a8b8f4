import { type BorrowedBuffer, borrowWhole, copyAndRelease } from "../../../base/borrowed-buffer.ts";
import { type Bytes, NO_BYTES } from "../../../base/bytes.ts";
import { fairQueue } from "../../../base/fair-queue.ts";
import { Fault } from "../../../base/fault.ts";
import { PIPELINE_BYTES_MAX, PIPELINE_REQUESTS_MAX } from "../../../base/limits.ts";
import type { BlobContext } from "../../../service/blob/context.ts";
import { admitPipeline } from "../../../service/blob/pipeline.ts";
import { answerHead, renderHead } from "../http/answer-head.ts";
import type { ResponseBody, RestRequest, RestResponse } from "../http/exchange.ts";
import { protocolVersion } from "../http/protocol-version.ts";
import { parseHead, UNKNOWN_LENGTH } from "../http/request-head.ts";
import { nextRequestId } from "../http/request-id.ts";
import { readWholeBody } from "../http/whole-body.ts";
import { requestInside } from "../inner-request.ts";
import { bodyOfPieces } from "../pieces-body.ts";
import { renderXmlError } from "../render-error.ts";
import { invalidHeader } from "../request-headers.ts";
import { addressOf, type BlobCall } from "./call.ts";
import type { BlobOperationName, BlobRoute } from "./route.ts";

const OPERATIONS: ReadonlySet<BlobOperationName> = new Set(["putBlob", "getBlob", "deleteBlob"]);
/** What RFC 9112 calls messages that follow one another in a body. */
const TYPE = "application/http";
const HEAD_END = "\r\n\r\n";
const HEAD_BYTES_MAX = 32 * 1024;
/** Requests between two looks at the time: each takes about 30 µs. */
const REQUESTS_PER_LOOK = 8;

/** One request of a pipeline. */
interface Inner {
  readonly request: RestRequest;
  readonly route: BlobRoute;
}

/**
 * Handles many puts, gets and deletes of small blobs of one container in one request, for imports and
 * exports. The body holds whole HTTP requests, the answer whole HTTP answers in their order. What
 * this spares is the rest of a request: sockets and signatures. Each one is executed and answered on
 * its own. They run concurrently, so that they share a group commit.
 */
export async function handlePipeline(context: BlobContext, call: BlobCall): Promise<RestResponse> {
  const { request } = call;
  const type = request.headers.get("content-type") ?? "";
  if (type !== TYPE) throw invalidHeader("Content-Type", type, `It must be ${TYPE}.`);
  await admitPipeline(context, { at: addressOf(call), access: call.access });
  const bytes = await readWholeBody(request, PIPELINE_BYTES_MAX);
  const inner = readPipeline(request, bytes).map((one) => routed(call, one));
  const answers = await answersTo(call, inner);
  try {
    await request.rendering?.grownTo(sum(answers.map(lengthOfBody)));
    const pieces: Bytes[] = [];
    for (const [at, { request: one }] of inner.entries()) {
      await addAnswer(pieces, one, answers[at] as RestResponse);
    }
    return { status: 200, headers: ["Content-Type", TYPE], body: bodyOfPieces(pieces) };
  } finally {
    for (const { body } of answers) close(body);
  }
}

/** Throws if any of the requests cannot be read: then nobody knows where the next one begins. */
function readPipeline(outer: RestRequest, bytes: Bytes): RestRequest[] {
  const found: RestRequest[] = [];
  for (let at = 0; at < bytes.length; ) {
    const headEnd = bytes.indexOf(HEAD_END, at, "latin1");
    if (headEnd < 0 || headEnd - at > HEAD_BYTES_MAX) throw broken("has no end of its head");
    if (found.length === PIPELINE_REQUESTS_MAX) throw new Fault("ExceedsMaxBatchRequestCount");
    const head = parseHead(bytes.toString("latin1", at, headEnd + 2));
    if (typeof head === "number") throw broken("is no HTTP request");
    if (head.refusal !== null) throw head.refusal;
    if (head.bodyBytes === UNKNOWN_LENGTH) throw new Fault("MissingContentLengthHeader");
    const from = headEnd + HEAD_END.length;
    at = from + head.bodyBytes;
    if (at > bytes.length) throw broken("is cut short");
    const { method, target, headers } = head;
    if (!target.startsWith("/")) throw broken("names no path");
    const one = requestInside(outer, { method, target, headers, body: bytes.subarray(from, at) });
    const version = protocolVersion(headers, one.query);
    found.push({ ...one, id: nextRequestId(), version });
  }
  if (found.length === 0) throw broken("is missing");
  return found;
}

function routed(call: BlobCall, request: RestRequest): Inner {
  const { account, route } = call.inner.route(request, call.account);
  if (account !== call.account || route.container !== call.route.container) {
    throw broken("names another account or container");
  }
  if (!OPERATIONS.has(route.operation)) {
    throw broken(`is ${route.operation}, and may be putBlob, getBlob or deleteBlob`);
  }
  const hasCredentials = request.headers.get("authorization") ?? request.query.get("sig");
  if (hasCredentials !== undefined) throw broken("is signed: the pipeline is, as a whole");
  return { request, route };
}

/** Each starts its transaction at once. Waits for all, so that no reading stays open. */
async function answersTo(call: BlobCall, inner: readonly Inner[]): Promise<RestResponse[]> {
  const running: Promise<RestResponse>[] = [];
  for (const [at, { request, route }] of inner.entries()) {
    const wait = at % REQUESTS_PER_LOOK === 0 ? fairQueue.next() : undefined;
    if (wait !== undefined) await wait;
    const answer = call.inner.answerFor(call, request, route);
    // It may reject before it is awaited.
    answer.catch(() => {});
    running.push(answer);
  }
  const settled = await Promise.allSettled(running);
  const answers = settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  const failed = settled.find((one) => one.status === "rejected");
  if (failed !== undefined) {
    for (const { body } of answers) close(body);
    throw failed.reason;
  }
  let bytes = 0;
  return answers.map((answer, at) => {
    const { request } = inner[at] as Inner;
    const isTooLong = bytes + lengthOfBody(answer) > PIPELINE_BYTES_MAX;
    const sent = isTooLong ? refusedAsTooLong(request, answer) : answer;
    bytes += lengthOfBody(sent);
    call.request.facts.addInner(request, sent);
    return sent;
  });
}

function refusedAsTooLong(request: RestRequest, { body }: RestResponse): RestResponse {
  close(body);
  const reason = `The answers of a pipeline have up to ${PIPELINE_BYTES_MAX} bytes: read it alone.`;
  const fault = new Fault("InvalidInput", { Reason: reason });
  request.facts.refusal = fault;
  return renderXmlError(fault, request);
}

async function addAnswer(
  pieces: Bytes[],
  request: RestRequest,
  answer: RestResponse,
): Promise<void> {
  const { body } = answer;
  const bytes = bytesOf(body) ?? copyAndRelease(await borrowed(body));
  const bodyBytes = body === null ? null : bytes.length;
  const head = answerHead(request, answer, { common: "", connection: "", bodyBytes });
  pieces.push(Buffer.from(renderHead(head), "latin1"), bytes);
}

function bytesOf(body: ResponseBody): Bytes | null {
  if (body === null) return NO_BYTES;
  if (typeof body === "string") return Buffer.from(body, "utf8");
  return Buffer.isBuffer(body) ? body : null;
}

function borrowed(body: ResponseBody): Promise<BorrowedBuffer> {
  return borrowWhole(body as Exclude<ResponseBody, null | string | Bytes>);
}

function lengthOfBody({ body }: RestResponse): number {
  return body?.length ?? 0;
}

function close(body: ResponseBody): void {
  if (body !== null && typeof body === "object" && "close" in body) body.close();
}

function sum(lengths: readonly number[]): number {
  return lengths.reduce((all, one) => all + one, 0);
}

function broken(what: string): Fault {
  return new Fault("InvalidInput", {
    Reason: `The pipeline cannot be read: one of its requests ${what}.`,
  });
}
