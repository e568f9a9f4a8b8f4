import type { Instant } from "../../../base/clock.ts";
import { type RestOutcome, type RestServiceName, UNKNOWN_OPERATION } from "../../outcome.ts";
import { clientRequestIdOf } from "./answer-head.ts";
import { loggedTarget } from "./redact.ts";
import type { ReportedRequest, ReportedResponse } from "./request-facts.ts";

/** What the listener measured. */
export interface Measured {
  readonly tookMs: number;
  readonly requestBytes: number;
  readonly responseBytes: number;
  readonly aborted: boolean;
}

/** A request inside a batch: its bytes are counted with the batch. */
const INSIDE = { requestBytes: 0, responseBytes: 0, aborted: false };
const ERROR_CODE_HEADER = "x-ms-error-code";
/** The lowest status of answers that may have an error code. */
const ERROR_STATUS_MIN = 300;

export function outcomeOf(
  service: RestServiceName,
  request: ReportedRequest,
  response: ReportedResponse,
  measured: Measured,
  batchId: string | null = null,
): RestOutcome {
  const { facts } = request;
  return {
    atMs: request.receivedMs,
    tookMs: measured.tookMs,
    service,
    operation: operationName(facts.operation),
    account: facts.account,
    container: facts.container,
    auth: facts.auth,
    status: response.status,
    code: errorCodeOf(response),
    requestBytes: measured.requestBytes,
    responseBytes: measured.responseBytes,
    requestId: request.id,
    clientRequestId: clientRequestIdOf(request.headers),
    batchId,
    remoteAddress: request.remoteAddress,
    method: request.method,
    target: loggedTarget(request.target),
    aborted: measured.aborted,
  };
}

/** The outcomes of the requests inside a batch, which take as long as the batch. */
export function innerOutcomes(
  service: RestServiceName,
  { id, facts }: ReportedRequest,
  tookMs: number,
): RestOutcome[] {
  return (facts.inner ?? []).map(({ request, response }) =>
    outcomeOf(service, request, response, { ...INSIDE, tookMs }, id),
  );
}

/** The outcome of something that is no request. */
export function outcomeOfNoRequest(
  service: RestServiceName,
  seen: { atMs: Instant; requestId: string; remoteAddress: string; status: number },
): RestOutcome {
  return {
    ...seen,
    ...INSIDE,
    tookMs: 0,
    service,
    operation: UNKNOWN_OPERATION,
    account: null,
    container: null,
    auth: "none",
    code: null,
    clientRequestId: null,
    batchId: null,
    method: null,
    target: null,
  };
}

/** `putBlob` as the service names it: `PutBlob`. */
function operationName(operation: string): string {
  return operation.charAt(0).toUpperCase() + operation.slice(1);
}

function errorCodeOf({ status, headers }: ReportedResponse): string | null {
  if (status < ERROR_STATUS_MIN) return null;
  for (let at = 0; at < headers.length; at += 2) {
    if (headers[at] === ERROR_CODE_HEADER) return headers[at + 1] ?? null;
  }
  return null;
}
