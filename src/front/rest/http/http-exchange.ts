import type { Bytes } from "../../../base/bytes.ts";
import { Fault } from "../../../base/fault.ts";
import type { Transfer } from "../../pace.ts";
import { bytesTakenFrom } from "../../socket-progress.ts";
import { administer, isAdminRequest } from "./admin.ts";
import { type AnswerHead, answerHead, CLOSE_LINES } from "./answer-head.ts";
import type { ResponseBody, ResponseStream, RestResponse, RestService } from "./exchange.ts";
import type { Exchanges } from "./exchanges.ts";
import { faultOfError } from "./fault-of-error.ts";
import { HEALTH_CHECK, health, isHealthCheck } from "./health.ts";
import { IncomingBody } from "./incoming-body.ts";
import { IncomingRequest } from "./incoming-request.ts";
import type { RequestHead } from "./request-head.ts";
import { SLICE_BYTES_MAX, sendBody } from "./send-body.ts";
import type { Wire } from "./wire.ts";

/** Handles a request and sends its answer. */
export function beginExchange(exchanges: Exchanges, wire: Wire, head: RequestHead): void {
  exchanges.began();
  void new HttpExchange(exchanges, wire, head).run();
}

type ExchangeState = "handling" | "sending" | "discarding" | "done" | "aborted";

/** The states that may follow each state; the table above `HttpExchange` says when. */
const NEXT: Readonly<Record<ExchangeState, readonly ExchangeState[]>> = {
  handling: ["sending", "aborted"],
  sending: ["discarding", "done", "aborted"],
  discarding: ["done", "aborted"],
  done: [],
  aborted: [],
};

/** The answer in the outcome of a request whose refusal could not be rendered. */
const NO_ANSWER: RestResponse = {
  status: 500,
  headers: ["x-ms-error-code", "InternalError"],
  body: null,
};

function isFinal(state: ExchangeState): boolean {
  return NEXT[state].length === 0;
}

/**
 * One request and its answer, on either listener. It begins when the head is read; the connection
 * below (`Wire`) begins no other before this one has called `over`.
 *
 * | state      | event                              | does                      | next       |
 * |------------|------------------------------------|---------------------------|------------|
 * | handling   | the handler returns a response     | sends its head            | sending    |
 * | handling   | the handler throws                 | renders and sends a fault | sending    |
 * | handling   | no head or first bytes can be made | renders a fault instead   | handling   |
 * | handling   | the fault cannot be rendered       | cuts the connection       | aborted    |
 * | handling   | the client is gone                 |                           | aborted    |
 * | sending    | the system has taken all bytes     |                           | done       |
 * | sending    | the same, but the body has a rest  | reads and drops the rest  | discarding |
 * | sending    | the body breaks later              | cuts the connection       | aborted    |
 * | sending    | the client is gone or too slow     | cuts the connection       | aborted    |
 * | discarding | the rest has come                  |                           | done       |
 * | discarding | the rest is too long or too slow   | closes the connection     | done       |
 * | discarding | the client is gone                 |                           | aborted    |
 *
 * While it is handling, the body has states of its own: see `IncomingBody`. A client that goes away
 * then ends the body; the handler notices, or goes on to its end.
 */
class HttpExchange implements Transfer {
  readonly #exchanges: Exchanges;
  readonly #service: RestService;
  readonly #wire: Wire;
  readonly #request: IncomingRequest;
  #state: ExchangeState = "handling";
  /** Whether the connection is closed after the answer. */
  #isLast: boolean;
  #isWatched = false;
  /** When it began, by the clock of durations; null if nobody wants its outcome. */
  readonly #beganMs: number | null;
  /** The answer that is being sent; null before. */
  #response: RestResponse | null = null;
  #sentBytes = 0;
  /** A whole answer that leaves at the end of this iteration of the event loop. */
  #head: AnswerHead | null = null;
  #body: Bytes | null = null;

  constructor(exchanges: Exchanges, wire: Wire, head: RequestHead) {
    const { budget, clock, tls, work, wholeBodies } = exchanges.options;
    const { receiving, outcomes } = exchanges;
    const body = new IncomingBody(wire, head.bodyBytes, head.waitsForContinue, receiving, work);
    this.#exchanges = exchanges;
    this.#service = exchanges.service;
    this.#wire = wire;
    this.#isLast = wire.isSurplus || !head.keepsAlive;
    this.#beganMs = outcomes.begin();
    this.#request = new IncomingRequest(
      head,
      body,
      wholeBodies,
      budget.rendering,
      wire.remoteAddress,
      tls !== null,
      clock.now(),
    );
  }

  /** Handles the request and sends the answer. Never rejects: all errors are caught here. */
  async run(): Promise<void> {
    const { work, log } = this.#exchanges.options;
    const isTooMuch = this.#wire.isSurplus || work.isTooMuch;
    try {
      let response: RestResponse;
      work.begin();
      try {
        response = await this.#handle(isTooMuch);
      } catch (error) {
        response = this.#refusal(error);
      } finally {
        work.end();
        this.#request.handled();
      }
      const sending = this.#answer(response);
      if (sending !== undefined) await sending;
    } catch (error) {
      log.failure(this.#request.id, error, this.#request);
      this.#wire.socket.destroy();
      if (!isFinal(this.#state)) this.#finish();
    }
    this.#exchanges.ended();
  }

  #handle(isTooMuch: boolean): RestResponse | Promise<RestResponse> {
    if (isHealthCheck(this.#request)) {
      this.#request.facts.operation = HEALTH_CHECK;
      return health(this.#request.target, this.#exchanges);
    }
    this.#request.check();
    const { admin } = this.#exchanges.options;
    if (admin !== undefined && isAdminRequest(this.#request, admin)) {
      return administer(this.#request, admin);
    }
    if (isTooMuch) throw new Fault("ServerBusy");
    return this.#service.handle(this.#request);
  }

  /** The answer for an error. */
  #refusal(error: unknown): RestResponse {
    const { log } = this.#exchanges.options;
    if (!(error instanceof Fault)) log.failure(this.#request.id, error, this.#request);
    return this.#service.renderFault(faultOfError(error), this.#request);
  }

  /**
   * Sends the response; or a refusal, if that fails before anything was sent. Small ones at once.
   */
  #answer(response: RestResponse): Promise<void> | undefined {
    try {
      return this.#send(response)?.catch((error) => this.#refuseInstead(error));
    } catch (error) {
      return this.#refuseInstead(error);
    }
  }

  #refuseInstead(error: unknown): Promise<void> | undefined {
    if (this.#state !== "handling" || this.#wire.socket.destroyed) throw error;
    return this.#send(this.#refusal(error));
  }

  #send(response: RestResponse): Promise<void> | undefined {
    let isLong = false;
    this.#response = response;
    try {
      if (this.#wire.socket.destroyed) {
        this.#finish();
        return undefined;
      }
      const body = bodyOf(this.#request, response);
      const unread = this.#request.body.skip();
      const head = this.#headOf(response, body, unread);
      isLong = unread > 0 || (body !== null && !isSmall(body));
      if (isLong) return this.#sendLong(head, body, response);
      this.#head = head;
      this.#body = body as Bytes | null;
      this.#enter("sending");
      this.#exchanges.sendSoon(this);
      return undefined;
    } finally {
      if (!isLong) closeStream(response.body);
    }
  }

  #headOf(
    response: RestResponse,
    body: Bytes | ResponseStream | null,
    unreadBytes: number,
  ): AnswerHead {
    const { limits, closing, keepAliveLines } = this.#exchanges;
    const isTooMuch = unreadBytes > limits.unreadBytesMax;
    if (closing || isTooMuch || this.#request.body.isHeldBack) this.#isLast = true;
    return answerHead(this.#request, response, {
      common: this.#exchanges.commonLines(),
      connection: this.#isLast ? CLOSE_LINES : keepAliveLines,
      bodyBytes: body === null ? null : body.length,
    });
  }

  /** Sends an answer that is whole in memory. `sent` follows, mostly before this returns. */
  sendWhole(): void {
    if (this.#body !== null && !this.#wire.socket.destroyed) this.#sentBytes = this.#body.length;
    this.#wire.sendWhole(this.#head as AnswerHead, this.#body, this);
    if (this.#state === "sending") this.#watchReader(this.#wire.socket.writableLength);
  }

  /** Called when an answer from memory is sent, or the client is gone. */
  sent(): void {
    if (this.#state === "sending") this.#finish();
  }

  /** Sends an answer in slices, or one whose request has not been read to its end. */
  async #sendLong(
    head: AnswerHead,
    body: Bytes | ResponseStream | null,
    response: RestResponse,
  ): Promise<void> {
    try {
      const isInMemory = body !== null && (Buffer.isBuffer(body) || body.isAtHand === true);
      this.#watchReader(isInMemory ? body.length : 0);
      const begin = () => {
        this.#enter("sending");
        this.#wire.sendHead(head);
      };
      const sent = (bytes: number) => {
        this.#sentBytes += bytes;
      };
      if (body === null) begin();
      else await sendBody(this.#wire, body, this.#exchanges.options, { begin, sent });
      await this.#discardRest();
      this.#finish();
    } finally {
      closeStream(response.body);
    }
  }

  async #discardRest(): Promise<void> {
    const { body } = this.#request;
    if (this.#state !== "sending" || body.skip() === 0) return;
    this.#enter("discarding");
    if (!(await body.discard(this.#exchanges.limits))) this.#isLast = true;
  }

  #finish(): void {
    this.#enter(this.#wire.socket.destroyed ? "aborted" : "done");
    this.#forgetReader();
    this.#report(this.#response ?? NO_ANSWER);
    this.#wire.over(this.#isLast);
  }

  /** Called once for each request, when it is over. */
  #report(response: RestResponse): void {
    const { outcomes } = this.#exchanges;
    const isAborted = this.#state === "aborted";
    const began = this.#beganMs;
    if (began !== null) {
      outcomes.report(this.#request, response, began, this.#sentBytes, isAborted);
    }
    this.#exchanges.debug(this.#request, response);
  }

  #enter(state: ExchangeState): void {
    if (!NEXT[this.#state].includes(state)) {
      throw new Error(`an exchange cannot go from ${this.#state} to ${state}`);
    }
    this.#state = state;
  }

  // The answer as a transfer that is cut if the client does not read on.

  get waiting(): boolean {
    return this.#wire.socket.writableLength > 0;
  }

  get moved(): number {
    return bytesTakenFrom(this.#wire.socket);
  }

  cut(): void {
    this.#wire.socket.destroy();
  }

  /** `bytesInMemory` of the answer stay in memory until the client reads them. */
  #watchReader(bytesInMemory: number): void {
    this.#isWatched = true;
    this.#exchanges.sending.watch(this);
    if (bytesInMemory > 0) this.#exchanges.options.budget.unsent.add(this, bytesInMemory);
  }

  #forgetReader(): void {
    if (!this.#isWatched) return;
    this.#exchanges.sending.forget(this);
    this.#exchanges.options.budget.unsent.release(this);
  }
}

/** Null if the answer must not have a body, even if the handler returned one. */
function bodyOf(
  { method }: IncomingRequest,
  { body, status }: RestResponse,
): Bytes | ResponseStream | null {
  if (body === null || method === "HEAD" || status === 204 || status === 304) return null;
  return typeof body === "string" ? Buffer.from(body, "utf8") : body;
}

function isSmall(body: Bytes | ResponseStream): body is Bytes {
  return Buffer.isBuffer(body) && body.length <= SLICE_BYTES_MAX;
}

function closeStream(body: ResponseBody): void {
  if (body !== null && typeof body === "object" && "close" in body) body.close();
}
