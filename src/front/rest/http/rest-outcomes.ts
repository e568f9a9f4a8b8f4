import type { Clock } from "../../../base/clock.ts";
import {
  NO_DETAILS,
  type Outcomes,
  type RestDetails,
  type RestOutcome,
  type RestServiceName,
  type SentRequest,
  UNKNOWN_OPERATION,
} from "../../outcome.ts";
import { clientRequestIdOf } from "./answer-head.ts";
import type { RestResponse } from "./exchange.ts";
import type { IncomingRequest } from "./incoming-request.ts";
import { loggedTarget } from "./redact.ts";
import type { ReportedRequest, ReportedResponse } from "./request-facts.ts";
import { toldHeaders } from "./told-headers.ts";

const ERROR_CODE_HEADER = "x-ms-error-code";
/** The lowest status of answers that may have an error code. */
const ERROR_STATUS_MIN = 300;

/** Makes the outcomes of a listener's requests. */
export class RestOutcomes {
  readonly #service: RestServiceName;
  readonly #clock: Clock;
  readonly #outcomes: Pick<Outcomes, "take">;
  /** `PutBlob`, by the name that routes have for it: `putBlob`. */
  readonly #operations = new Map<string, string>();

  constructor(service: RestServiceName, clock: Clock, outcomes: Pick<Outcomes, "take">) {
    this.#service = service;
    this.#clock = clock;
    this.#outcomes = outcomes;
  }

  /** When a request begins, by the clock of durations; null if nobody wants its outcome. */
  begin(): number | null {
    return this.#outcomes.take === null ? null : this.#clock.elapsedMs();
  }

  /**
   * Reports a request that is over, after the requests inside it if it is a batch. `beganMs` is
   * what `begin` returned.
   */
  report(
    request: IncomingRequest,
    response: RestResponse,
    beganMs: number,
    responseBytes: number,
    aborted: boolean,
  ): void {
    const { take } = this.#outcomes;
    if (take === null) return;
    const tookMs = this.#clock.elapsedMs() - beganMs;
    for (const inner of request.facts.inner ?? []) {
      // Their bytes are counted with the batch.
      take(this.#of(inner.request, inner.response, tookMs, 0, 0, false, request.id));
    }
    const requestBytes = request.body.moved;
    take(this.#of(request, response, tookMs, requestBytes, responseBytes, aborted, null));
  }

  /** Reports the refusal of something that is no request. */
  reportNoRequest(status: number, requestId: string, remoteAddress: string): void {
    this.#outcomes.take?.({
      atMs: this.#clock.now(),
      tookMs: 0,
      service: this.#service,
      operation: UNKNOWN_OPERATION,
      account: null,
      container: null,
      auth: "none",
      status,
      code: null,
      requestBytes: 0,
      responseBytes: 0,
      requestId,
      clientRequestId: null,
      batchId: null,
      remoteAddress,
      method: null,
      target: null,
      aborted: false,
      details: () => NO_DETAILS,
    });
  }

  /** All as arguments: this runs for every request, and an object for them would be garbage. */
  #of(
    request: ReportedRequest,
    response: ReportedResponse,
    tookMs: number,
    requestBytes: number,
    responseBytes: number,
    aborted: boolean,
    batchId: string | null,
  ): RestOutcome {
    const { facts } = request;
    return {
      atMs: request.receivedMs,
      tookMs,
      service: this.#service,
      operation: this.#operationName(facts.operation),
      account: facts.account,
      container: facts.container,
      auth: facts.auth,
      status: response.status,
      code: errorCodeOf(response),
      requestBytes,
      responseBytes,
      requestId: request.id,
      clientRequestId: clientRequestIdOf(request.headers),
      batchId,
      remoteAddress: request.remoteAddress,
      method: request.method,
      target: loggedTarget(request.target),
      aborted,
      details: () => detailsOf(request, response),
    };
  }

  #operationName(routed: string): string {
    const known = this.#operations.get(routed);
    if (known !== undefined) return known;
    const name = routed.charAt(0).toUpperCase() + routed.slice(1);
    this.#operations.set(routed, name);
    return name;
  }
}

function errorCodeOf({ status, headers }: ReportedResponse): string | null {
  return status < ERROR_STATUS_MIN ? null : headerIn(headers, ERROR_CODE_HEADER);
}

const CONDITION_HEADERS = [
  ["if-match", "If-Match"],
  ["if-none-match", "If-None-Match"],
  ["if-modified-since", "If-Modified-Since"],
  ["if-unmodified-since", "If-Unmodified-Since"],
] as const;

function detailsOf(request: ReportedRequest, response: ReportedResponse): RestDetails {
  const { headers } = request;
  const conditions: string[] = [];
  for (const [name, shown] of CONDITION_HEADERS) {
    const value = headers.get(name);
    if (value !== undefined) conditions.push(`${shown}: ${value}`);
  }
  return {
    agent: headers.get("user-agent") ?? null,
    conditions,
    leaseId: headers.get("x-ms-lease-id") ?? null,
    etag: headerIn(response.headers, "ETag"),
    headers: () => toldHeaders(headers.raw),
    sent: () => sentRequest(request),
  };
}

function sentRequest(request: ReportedRequest): SentRequest {
  const { method, target, headers, remoteAddress, receivedMs, judgedMs } = request;
  const isSecure = request.secure;
  return { method, target, headers: headers.raw, isSecure, remoteAddress, receivedMs, judgedMs };
}

/** Answers write each name in one way. */
function headerIn(headers: readonly string[], name: string): string | null {
  for (let at = 0; at < headers.length; at += 2) {
    if (headers[at] === name) return headers[at + 1] ?? null;
  }
  return null;
}
