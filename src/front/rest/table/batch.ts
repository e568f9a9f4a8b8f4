import { isUtf8 } from "node:buffer";
import { drainBorrowed } from "../../../base/borrowed-buffer.ts";
import type { Bytes } from "../../../base/bytes.ts";
import { inSlices, PacedBytes } from "../../../base/fair-queue.ts";
import { Fault } from "../../../base/fault.ts";
import { BATCH_BYTES_MAX } from "../../../base/limits.ts";
import { textInSteps } from "../../../base/utf8-text.ts";
import type { EntityWrite } from "../../../service/table/apply-write.ts";
import type { TableContext } from "../../../service/table/context.ts";
import { writeBatch } from "../../../service/table/write-batch.ts";
import type { GatedPart, RestRequest, RestResponse } from "../http/exchange.ts";
import { readWholeBody } from "../http/whole-body.ts";
import { brokenBatch } from "../multipart.ts";
import { renderTableError } from "../render-error.ts";
import { answerWithChanges, answerWithQuery, renderPart } from "./batch-answer.ts";
import { type InnerTableRequest, readBatchInSteps } from "./batch-request.ts";
import { entitiesAskedOf, type TableCall } from "./call.ts";
import { entityPath } from "./entity-json.ts";
import { handleGetEntity } from "./get-entity.ts";
import { handleQueryEntities } from "./query-entities.ts";
import { routeTable, type TableRoute } from "./route.ts";
import { answerEntityWrite, readEntityWrite } from "./write-entity.ts";

/** An entity group transaction, or one query. */
export async function handleBatch(context: TableContext, call: TableCall): Promise<RestResponse> {
  const bytes = await readWholeBody(call.request, BATCH_BYTES_MAX);
  if (!isUtf8(bytes)) throw brokenBatch("It is not UTF-8.");
  const text = await inSlices(textInSteps(bytes));
  const reading = readBatchInSteps(call.request, text, call.endpoint);
  const { isChangeSet, inner } = await inSlices(reading);
  if (isChangeSet) return changeSet(context, call, inner);
  const [query] = inner as [InnerTableRequest];
  const answer = await answerQuery(context, call, query).catch((error: unknown) => {
    if (error instanceof Fault) return renderTableError(error, query.request);
    throw error;
  });
  call.request.facts.addInner(query.request, answer);
  return answerWithQuery(renderPart(await inOnePiece(answer), query.contentId));
}

/** A long list would be sent in pieces; here it is one part of the answer. */
async function inOnePiece({ status, headers, body }: RestResponse): Promise<RestResponse> {
  if (body === null || typeof body === "string" || Buffer.isBuffer(body)) {
    return { status, headers, body };
  }
  const pieces: Bytes[] = [];
  try {
    await drainBorrowed(body, (piece) => {
      pieces.push(Buffer.from(piece));
    });
  } finally {
    body.close();
  }
  return { status, headers, body: Buffer.concat(pieces) };
}

function answerQuery(
  context: TableContext,
  call: TableCall,
  { request, path }: InnerTableRequest,
): Promise<RestResponse> {
  const route = routeInner(call, request, path);
  const inner = { ...call, request, route };
  if (route.operation === "queryEntities") return handleQueryEntities(context, inner);
  if (route.operation === "getEntity") return handleGetEntity(context, inner);
  throw brokenBatch("Outside of a change set there can only be a query.");
}

interface Change {
  readonly route: TableRoute;
  readonly write: EntityWrite;
}

async function changeSet(
  context: TableContext,
  call: TableCall,
  inner: readonly InnerTableRequest[],
): Promise<RestResponse> {
  const changes: Change[] = [];
  const paced = new PacedBytes();
  for (const [index, one] of inner.entries()) {
    const wait = paced.next(one.request.body.length);
    if (wait !== undefined) await wait;
    try {
      changes.push(await readChange(call, one, changes[0]));
    } catch (error) {
      if (error instanceof Fault) return refusal(call, one, index, error);
      throw error;
    }
  }
  call.request.gate?.learn(call.request, changes.map(gatedPart(inner)));
  const { route } = changes[0] as Change;
  const writes = changes.map(({ write }) => write);
  const done = await writeBatch(context, { ...entitiesAskedOf({ ...call, route }), writes });
  if (done.kind === "refused") {
    return refusal(call, inner[done.index] as InnerTableRequest, done.index, done.fault);
  }
  const parts = changes.map((change, at) => {
    const { request, contentId } = inner[at] as InnerTableRequest;
    const answer = answerEntityWrite(
      { ...call, request, route: change.route },
      change.write,
      done.results[at] ?? null,
    );
    call.request.facts.addInner(request, answer);
    return renderPart(answer, contentId);
  });
  return answerWithChanges(parts);
}

/** Describes a change to a lab. */
function gatedPart(inner: readonly InnerTableRequest[]) {
  return ({ route, write }: Change, at: number): GatedPart => ({
    operation: write.kind,
    object: entityPath(route.table, write.place),
    request: (inner[at] as InnerTableRequest).request,
  });
}

/** Routes an operation of the batch. Its outcome names the account and credentials of the batch. */
function routeInner(call: TableCall, request: RestRequest, path: string): TableRoute {
  const { facts } = request;
  facts.account = call.account;
  facts.auth = call.request.facts.auth;
  const route = routeTable(request.method, path, request.query, request.headers);
  facts.operation = route.operation;
  facts.container = route.table;
  return route;
}

async function readChange(
  call: TableCall,
  { request, path }: InnerTableRequest,
  first?: Change,
): Promise<Change> {
  const route = routeInner(call, request, path);
  const write = await readEntityWrite(route, request);
  const table = first?.route.table ?? route.table;
  if (route.table.toLowerCase() !== table.toLowerCase()) {
    throw new Fault("CommandsInBatchActOnDifferentPartitions");
  }
  return { route, write };
}

/**
 * Answers a change set with its one refused operation. A lack of authorization refuses the whole
 * batch.
 */
function refusal(
  { request }: TableCall,
  inner: InnerTableRequest,
  index: number,
  fault: Fault,
): RestResponse {
  if (AUTHORIZATION.test(fault.code)) throw fault;
  const answer = renderTableError(fault, request, { index });
  request.facts.addInner(inner.request, answer);
  return answerWithChanges([renderPart(answer, null)]);
}

const AUTHORIZATION = /^Auth/;
