import type { Instant } from "../base/clock.ts";
import { Fault, type FaultCode } from "../base/fault.ts";
import type { RestServiceName } from "../front/outcome.ts";
import type {
  CallGate,
  GatedCall,
  GatedPart,
  ResponseBody,
  RestRequest,
  RestResponse,
  RestService,
} from "../front/rest/http/exchange.ts";
import type { SeenRequest } from "./active-rules.ts";
import { Interrupted, LabCall } from "./lab-call.ts";
import type { LabClock } from "./lab-clock.ts";
import { operationName } from "./operations.ts";
import type { Pauses } from "./pauses.ts";
import type { AnswerEffect } from "./rule.ts";
import type { RulesAtWork } from "./rules-at-work.ts";
import { shapedAnswer } from "./shaped-body.ts";
import { LAB_HEADER } from "./third-party.ts";

/** The code of each status, by service where it matters to clients. */
const CODES: Readonly<Record<number, FaultCode>> = {
  409: "LeaseAlreadyPresent",
  412: "ConditionNotMet",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServerBusy",
};
const TABLE_CODES: Readonly<Record<number, FaultCode>> = {
  409: "EntityAlreadyExists",
  412: "UpdateConditionNotSatisfied",
};
const OTHER_CONFLICTS: Readonly<Partial<Record<RestServiceName, FaultCode>>> = {
  file: "SharingViolation",
  queue: "QueueAlreadyExists",
};
const SENTENCE = "The lab answered this request, because a rule says so.";

/** Ends the handling of a request over REST with this answer. */
class Answered extends Interrupted {
  readonly response: RestResponse;

  constructor(response: RestResponse) {
    super();
    this.response = response;
  }
}

/** A request over REST. */
export class RestCall extends LabCall {
  readonly request: RestRequest;
  readonly service: RestServiceName;
  /** The writes of a change set, once they are read; null for other requests. */
  parts: readonly GatedPart[] | null = null;
  readonly #render: RestService["renderFault"];

  constructor(service: RestService, request: RestRequest, seen: SeenRequest) {
    super(seen, seen.account);
    this.service = service.name;
    this.request = request;
    this.#render = (fault) => service.renderFault(fault, request);
  }

  answered(rule: number, effect: AnswerEffect): Error {
    const code = codeOf(effect, this.service);
    const response = this.#render(new Fault(code, {}, SENTENCE), this.request);
    const { retryAfter } = effect;
    const headers: string[] = [];
    for (let at = 0; at < response.headers.length; at += 2) {
      const [name = "", value = ""] = response.headers.slice(at, at + 2);
      if (retryAfter === null || name !== "Retry-After") headers.push(name, value);
    }
    if (retryAfter !== null) headers.push("Retry-After", `${retryAfter}`);
    headers.push(LAB_HEADER, `rule ${rule}`);
    return new Answered({ ...response, headers });
  }

  dropped(): Error {
    this.request.cut?.();
    return new Answered(DROPPED);
  }
}

export interface RestGateSetup {
  readonly work: RulesAtWork;
  readonly clock: LabClock;
  readonly pauses: Pauses;
  /** Requests with this token are the lab's own. */
  readonly token: string;
  /** Sees each request that comes to a service, and its end. */
  readonly watch: CallWatch;
}

/** Sees requests, for a recording. */
export interface CallWatch {
  began(call: RestCall): void;
  /** `response` is null if the client gets none, or a refusal: then `error` is why. */
  ended(call: RestCall, response: RestResponse | null, error: unknown): void;
}

/** Lets rules act on the requests of REST services. */
export class RestGates {
  readonly #setup: RestGateSetup;

  constructor(setup: RestGateSetup) {
    this.#setup = setup;
  }

  /** A service behind a gate. */
  around(service: RestService): RestService {
    const { clock, work } = this.#setup;
    const gate: CallGate = {
      now: (account): Instant => clock.of(account),
      pass: (request, call, handle) => this.#pass(service, request, call, handle),
      learn: (request, parts) => {
        const call = work.current.getStore();
        if (call instanceof RestCall && call.request === request) call.parts = parts;
      },
    };
    return {
      name: service.name,
      handle: (request) => {
        request.gate = gate;
        return service.handle(request);
      },
      renderFault: (fault, request) => service.renderFault(fault, request),
    };
  }

  async #pass(
    service: RestService,
    request: RestRequest,
    { operation, account, container, object }: GatedCall,
    handle: () => Promise<RestResponse>,
  ): Promise<RestResponse> {
    const { token, watch, work } = this.#setup;
    const { headers, method, id } = request;
    if (headers.get(LAB_HEADER) === token) return handle();
    const call = new RestCall(service, request, {
      service: service.name,
      operation: operationName(operation),
      method,
      account,
      container,
      object,
      requestId: id,
      clientRequestId: headers.get("x-ms-client-request-id") ?? null,
      headers,
    });
    watch.began(call);
    try {
      const response = await work.handle(call, handle, ({ body }) => closeBody(body));
      watch.ended(call, response, null);
      return this.#shaped(call, response);
    } catch (error) {
      if (error instanceof Answered) {
        watch.ended(call, error.response === DROPPED ? null : error.response, null);
        return error.response;
      }
      watch.ended(call, null, error);
      throw error;
    }
  }

  /** The answer as the rules want its body to be sent. */
  #shaped(call: RestCall, response: RestResponse): RestResponse {
    const { endsAfter, slowed, request } = call;
    if (endsAfter === null && slowed === null) return response;
    const shape = { endsAfter, bytesPerSecond: slowed?.bytesPerSecond ?? null };
    return shapedAnswer(response, shape, {
      pause: async (ms) => {
        if (slowed !== null) await this.#setup.pauses.wait(slowed.active, ms);
      },
      cut: () => request.cut?.(),
    });
  }
}

/** Stands for the answer of a request whose connection was cut. */
const DROPPED: RestResponse = {
  status: 500,
  headers: ["x-ms-error-code", "InternalError"],
  body: null,
};

function codeOf({ code, status }: AnswerEffect, service: RestServiceName): FaultCode {
  if (code !== null) return code as FaultCode;
  const own = service === "table" ? TABLE_CODES[status ?? 0] : undefined;
  const conflict = status === 409 ? OTHER_CONFLICTS[service] : undefined;
  return own ?? conflict ?? (CODES[status ?? 0] as FaultCode);
}

function closeBody(body: ResponseBody): void {
  if (body !== null && typeof body === "object" && "close" in body) body.close();
}
