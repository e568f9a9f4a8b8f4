import type { Clock } from "../../../base/clock.ts";
import {
  type OnOutcome,
  type RestOutcome,
  type RestServiceName,
  UNKNOWN_OPERATION,
} from "../../outcome.ts";
import { clientRequestIdOf } from "./answer-head.ts";
import type { RestResponse } from "./exchange.ts";
import type { IncomingRequest } from "./incoming-request.ts";
import { loggedTarget } from "./redact.ts";
import type { ReportedRequest, ReportedResponse } from "./request-facts.ts";

const ERROR_CODE_HEADER = "x-ms-error-code";
/** The lowest status of answers that may have an error code. */
const ERROR_STATUS_MIN = 300;

/** Makes the outcomes of a listener's requests. */
export class RestOutcomes {
  readonly #service: RestServiceName;
  readonly #clock: Clock;
  readonly #onOutcome: OnOutcome;
  /** `PutBlob`, by the name that routes have for it: `putBlob`. */
  readonly #operations = new Map<string, string>();

  constructor(service: RestServiceName, clock: Clock, onOutcome: OnOutcome) {
    this.#service = service;
    this.#clock = clock;
    this.#onOutcome = onOutcome;
  }

  /**
   * Reports a request that is over, after the requests inside it if it is a batch. `beganMs` is by
   * the clock of durations.
   */
  report(
    request: IncomingRequest,
    response: RestResponse,
    beganMs: number,
    responseBytes: number,
    aborted: boolean,
  ): void {
    const tookMs = this.#clock.elapsedMs() - beganMs;
    for (const inner of request.facts.inner ?? []) {
      // Their bytes are counted with the batch.
      this.#onOutcome(this.#of(inner.request, inner.response, tookMs, 0, 0, false, request.id));
    }
    const requestBytes = request.body.moved;
    this.#onOutcome(
      this.#of(request, response, tookMs, requestBytes, responseBytes, aborted, null),
    );
  }

  /** Reports the refusal of something that is no request. */
  reportNoRequest(status: number, requestId: string, remoteAddress: string): void {
    this.#onOutcome({
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
  if (status < ERROR_STATUS_MIN) return null;
  for (let at = 0; at < headers.length; at += 2) {
    if (headers[at] === ERROR_CODE_HEADER) return headers[at + 1] ?? null;
  }
  return null;
}
