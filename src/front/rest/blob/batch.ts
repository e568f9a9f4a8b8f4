import { isUtf8 } from "node:buffer";
import type { Bytes } from "../../../base/bytes.ts";
import { fairQueue, inSlices } from "../../../base/fair-queue.ts";
import { Fault } from "../../../base/fault.ts";
import { newGuid } from "../../../base/ids.ts";
import { BATCH_BYTES_MAX, BLOB_BATCH_OPERATIONS_MAX } from "../../../base/limits.ts";
import { textInSteps } from "../../../base/utf8-text.ts";
import type { BlobContext } from "../../../service/blob/context.ts";
import { CLIENT_ID_HEADER, clientRequestIdOf } from "../http/answer-head.ts";
import type { RestRequest, RestResponse } from "../http/exchange.ts";
import { nextRequestId } from "../http/request-id.ts";
import { readWholeBody } from "../http/whole-body.ts";
import { type InnerRequest, readInnerRequest, renderInnerResponse } from "../inner-request.ts";
import { boundaryOf, brokenBatch, joinParts, readParts } from "../multipart.ts";
import { renderXmlError } from "../render-error.ts";
import type { BlobCall } from "./call.ts";
import type { BlobOperationName } from "./route.ts";

const OPERATIONS: ReadonlySet<BlobOperationName> = new Set(["deleteBlob", "setBlobTier"]);

/** Operations per slice: with 8 KiB of metadata per blob, they take about 4 ms. */
const OPERATIONS_PER_SLICE = 32;

/**
 * Handles many deletions or many changes of tier. Each is authorized, executed and answered on its
 * own. They run concurrently, so that they can share a group commit.
 */
export async function handleBatch(_context: BlobContext, call: BlobCall): Promise<RestResponse> {
  const boundary = boundaryOf(call.request.headers.get("content-type"));
  if (boundary === null) throw brokenBatch("Its Content-Type must be multipart/mixed; boundary=….");
  const bytes = await readWholeBody(call.request, BATCH_BYTES_MAX);
  const parts = await answersTo(call, bytes, boundary);
  const answered = `batchresponse_${newGuid()}`;
  return {
    status: 202,
    headers: ["Content-Type", `multipart/mixed; boundary=${answered}`],
    body: joinParts(parts, answered),
  };
}

/** A batch that is refused as a whole is answered with a single part, and has no effect. */
async function answersTo(call: BlobCall, bytes: Bytes, boundary: string): Promise<string[]> {
  const { request } = call;
  try {
    const inner = await readBatch(request, bytes, boundary);
    requireBatchable(call, inner);
    return await answerParts(call, inner);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return [renderPart(request, null, renderXmlError(error, request))];
  }
}

async function readBatch(
  request: RestRequest,
  bytes: Bytes,
  boundary: string,
): Promise<InnerRequest[]> {
  if (!isUtf8(bytes)) throw brokenBatch("It is not UTF-8.");
  const tooMany = new Fault("ExceedsMaxBatchRequestCount");
  const text = await inSlices(textInSteps(bytes));
  const parts = readParts(text, boundary, BLOB_BATCH_OPERATIONS_MAX, tooMany);
  if (parts.length === 0) throw brokenBatch("It is empty.");
  return parts.map((part) => readInnerRequest(request, part));
}

function requireBatchable(call: BlobCall, inner: readonly InnerRequest[]): void {
  const operations = new Set<BlobOperationName>();
  for (const { request } of inner) {
    const { account, route } = call.inner.route(request, call.account);
    if (account !== call.account) throw brokenBatch("An operation names another account.");
    if (call.route.container !== "" && route.container !== call.route.container) {
      throw brokenBatch("An operation names another container.");
    }
    if (!OPERATIONS.has(route.operation)) {
      throw brokenBatch(`It may hold Delete Blob or Set Blob Tier, not ${route.operation}.`);
    }
    operations.add(route.operation);
  }
  if (operations.size > 1) throw new Fault("AllBatchSubRequestsShouldBeSameApi");
}

/** Starts the operations in several slices, because each runs its transaction when it starts. */
async function answerParts(call: BlobCall, inner: readonly InnerRequest[]): Promise<string[]> {
  const answers: Promise<string>[] = [];
  for (const [at, one] of inner.entries()) {
    if (at > 0 && at % OPERATIONS_PER_SLICE === 0) await fairQueue.yield();
    const answer = answerPart(call, one);
    // It may reject before it is awaited.
    answer.catch(() => {});
    answers.push(answer);
  }
  return Promise.all(answers);
}

async function answerPart(call: BlobCall, { request, contentId }: InnerRequest): Promise<string> {
  const numbered = { ...request, id: nextRequestId() };
  const answer = await call.inner.answer(numbered, call.account);
  call.request.facts.addInner(numbered, answer);
  return renderPart(numbered, contentId, answer);
}

function renderPart(
  request: RestRequest,
  contentId: string | null,
  { status, headers, body }: RestResponse,
): string {
  const common = ["x-ms-request-id", request.id, "x-ms-version", request.version];
  const clientId = clientRequestIdOf(request.headers);
  if (clientId !== null) common.push(CLIENT_ID_HEADER, clientId);
  const named = contentId === null ? [] : [`Content-ID: ${contentId}`];
  return renderInnerResponse(named, { status, headers: [...common, ...headers], body });
}
