import { rfc1123 } from "../../../base/time-text.ts";
import { Pace } from "../../pace.ts";
import { type AnswerHead, CLOSE_LINES } from "./answer-head.ts";
import type { RestResponse, RestService } from "./exchange.ts";
import type { IncomingRequest } from "./incoming-request.ts";
import type { ListenerLimits } from "./limits.ts";
import type { ListenerOptions } from "./listener-options.ts";
import { loggedTarget, redactHeaders } from "./redact.ts";
import { nextRequestId } from "./request-id.ts";
import { RestOutcomes } from "./rest-outcomes.ts";
import type { Wire } from "./wire.ts";

/** A small answer that is ready to leave. */
interface ReadyAnswer {
  sendWhole(): void;
}

/** Everything that the exchanges of one listener share. */
export class Exchanges {
  readonly options: ListenerOptions;
  readonly limits: ListenerLimits;
  /** Takes new requests. A request ends with the service that it began with. */
  service: RestService;
  /** Watches clients that send a body. */
  readonly receiving: Pace;
  /** Watches clients that read an answer. */
  readonly sending: Pace;
  /** Headers that tell the client that the connection stays open. */
  readonly keepAliveLines: string;
  /** Reports what comes of requests to those who want to know. */
  readonly outcomes: RestOutcomes;
  /** Whether the listener is stopping: each connection ends with its next answer. */
  closing = false;
  #running = 0;
  #onLastAnswer: () => void = () => {};
  #commonLines = "";
  #commonSecond = Number.NaN;
  #ready: ReadyAnswer[] = [];

  constructor(options: ListenerOptions) {
    this.options = options;
    this.limits = options.limits;
    this.service = options.service;
    this.receiving = new Pace(options.limits.receive);
    this.sending = new Pace(options.limits.send);
    this.keepAliveLines = keepAliveLines(options.limits);
    const { service, clock, outcomes } = options;
    this.outcomes = new RestOutcomes(service.name, clock, outcomes);
  }

  /** An exchange has begun. It calls `ended` once. */
  began(): void {
    this.#running++;
  }

  /** An exchange has ended: its handler is done, and its answer is on its way. */
  ended(): void {
    this.#running--;
    if (this.#running === 0) this.#onLastAnswer();
  }

  /** Resolves when no handler runs and every answer is on its way. */
  allAnswered(): Promise<void> {
    return new Promise((resolve) => {
      this.#onLastAnswer = resolve;
      if (this.#running === 0) resolve();
    });
  }

  checkPace(): void {
    this.receiving.check();
    this.sending.check();
  }

  /** Headers of every answer. They change every second. */
  commonLines(): string {
    const now = this.options.clock.now();
    const second = Math.floor(now / 1_000);
    if (second !== this.#commonSecond) {
      this.#commonLines = `Server: ${this.options.software}\r\nDate: ${rfc1123(now)}\r\n`;
      this.#commonSecond = second;
    }
    return this.#commonLines;
  }

  /**
   * Small answers that are ready in one iteration of the event loop leave together at its end. A
   * client that wakes up for the first finds the others, too: one wake-up for each would cost both
   * sides more than the answer itself.
   */
  sendSoon(exchange: ReadyAnswer): void {
    if (this.#ready.push(exchange) > 1) return;
    setImmediate(() => {
      const ready = this.#ready;
      this.#ready = [];
      for (const one of ready) one.sendWhole();
    });
  }

  /** Reports the refusal of bytes that are not a request. Returns the head of the answer. */
  noteRefusal({ remoteAddress }: Pick<Wire, "remoteAddress">, status: number): AnswerHead {
    const requestId = nextRequestId();
    this.outcomes.reportNoRequest(status, requestId, remoteAddress);
    const own = `x-ms-request-id: ${requestId}\r\nContent-Length: 0\r\n${CLOSE_LINES}`;
    return { status, lines: this.commonLines() + own };
  }

  /** Writes an answer to the debug log, whether it was sent or not. */
  debug(request: IncomingRequest, response: RestResponse): void {
    const { debug } = this.options.log;
    if (debug !== undefined) debug(this.#debugText(request, response));
  }

  #debugText(request: IncomingRequest, { status, headers }: RestResponse): string {
    const { id, method } = request;
    const { name } = this.options.service;
    const target = loggedTarget(request.target);
    return (
      `${id} ${name} ${method} ${target}${redactHeaders(request.headers.raw)}\n` +
      `${id} ${status}${redactHeaders(headers)}`
    );
  }
}

function keepAliveLines({ keepAliveMs }: ListenerLimits): string {
  const seconds = Math.floor(keepAliveMs / 1_000);
  const timeout = keepAliveMs === 0 ? "" : `Keep-Alive: timeout=${seconds}\r\n`;
  return `Connection: keep-alive\r\n${timeout}`;
}
