import { AsyncLocalStorage } from "node:async_hooks";
import type { Instant } from "../base/clock.ts";
import { Fault, type FaultCode } from "../base/fault.ts";
import type { Schedule } from "../base/schedule.ts";
import type {
  CallGate,
  GatedCall,
  ResponseBody,
  RestRequest,
  RestResponse,
  RestService,
} from "../front/rest/http/exchange.ts";
import { type ActiveRule, type ActiveRules, note } from "./active-rules.ts";
import { LabCall } from "./lab-call.ts";
import type { LabClock } from "./lab-clock.ts";
import type { PointsOfCall } from "./lab-store.ts";
import { operationName } from "./operations.ts";
import type { Effect, Point } from "./rule.ts";
import { type Shaping, shapedAnswer } from "./shaped-body.ts";
import { LAB_HEADER, type ThirdParties } from "./third-party.ts";
import type { WaitingRoom } from "./waiting-room.ts";

type AnswerEffect = Extract<Effect, { kind: "answer" }>;

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
const OTHER_CONFLICTS: Readonly<Record<string, FaultCode>> = {
  file: "SharingViolation",
  queue: "QueueAlreadyExists",
};
const SENTENCE = "The lab answered this request, because a rule says so.";

/** Ends the handling of a request that a rule answers or drops on its way. */
class Interrupted extends Fault {
  readonly response: RestResponse;

  constructor(response: RestResponse) {
    super("ServerBusy");
    this.response = response;
  }
}

export interface GateSetup {
  readonly rules: ActiveRules;
  readonly room: WaitingRoom;
  readonly clock: LabClock;
  readonly parties: ThirdParties;
  readonly schedule: Schedule;
  /** Requests with this token are the lab's own. */
  readonly token: string;
  /** Sees each request that comes to a service, and its end. */
  readonly watch: CallWatch;
}

/** Sees requests, for a recording. */
export interface CallWatch {
  began(call: LabCall): void;
  /** `response` is null if the client gets none, or a refusal: then `error` is why. */
  ended(call: LabCall, response: RestResponse | null, error: unknown): void;
}

/** Lets rules act on the requests of all services. */
export class LabGates implements PointsOfCall {
  readonly current = new AsyncLocalStorage<LabCall>();
  readonly #setup: GateSetup;
  /** Renders the answers of rules, by request. */
  readonly #services = new WeakMap<RestRequest, RestService>();

  constructor(setup: GateSetup) {
    this.#setup = setup;
  }

  /** The gate of a service. */
  around(service: RestService): RestService {
    const { clock } = this.#setup;
    const gate: CallGate = {
      now: (account): Instant => clock.of(account),
      pass: (request, call, handle) => this.#pass(service, request, call, handle),
      learn: (request, parts) => {
        const call = this.current.getStore();
        if (call?.request === request) call.parts = parts;
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

  mayAct(point: Point, { seen, met }: LabCall): boolean {
    return this.#setup.rules.mayAct(point, seen, met);
  }

  async reach(point: Point, call: LabCall): Promise<void> {
    const { rules } = this.#setup;
    for (;;) {
      const active = rules.next(point, call.seen, call.met);
      if (active === null) return;
      await this.#act(active, point, call);
    }
  }

  async #pass(
    service: RestService,
    request: RestRequest,
    { operation, account, container, object }: GatedCall,
    handle: () => Promise<RestResponse>,
  ): Promise<RestResponse> {
    const { token, watch } = this.#setup;
    const { headers, method, id } = request;
    if (headers.get(LAB_HEADER) === token) return handle();
    const call = new LabCall(request, {
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
    this.#services.set(request, service);
    watch.began(call);
    try {
      const response = await this.#handle(call, handle);
      watch.ended(call, response, null);
      return response;
    } catch (error) {
      if (error instanceof Interrupted) {
        watch.ended(call, error.response === DROPPED ? null : error.response, null);
        return error.response;
      }
      watch.ended(call, null, error);
      throw error;
    }
  }

  async #handle(call: LabCall, handle: () => Promise<RestResponse>): Promise<RestResponse> {
    await this.reach("arrival", call);
    let response: RestResponse | null = null;
    let refusal: unknown = null;
    try {
      response = await this.current.run(call, handle);
    } catch (error) {
      if (error instanceof Interrupted) throw error;
      refusal = error;
    }
    try {
      await this.reach("answer", call);
    } catch (error) {
      closeBody(response?.body ?? null);
      throw error;
    }
    if (response === null) throw refusal;
    const { shape } = call;
    return shape === null ? response : shapedAnswer(response, shape, this.#shaping(call));
  }

  async #act(active: ActiveRule, point: Point, call: LabCall): Promise<void> {
    const { effect } = active.rule;
    switch (effect.kind) {
      case "answer":
        throw new Interrupted(this.#answer(active, effect, call));
      case "drop":
        call.request.cut?.();
        throw new Interrupted(DROPPED);
      case "delay":
        return this.#pause(effect.ms);
      case "truncate":
        call.shape = {
          bytesPerSecond: call.shape?.bytesPerSecond ?? null,
          endsAfter: effect.bytes,
        };
        return;
      case "slow":
        call.shape = {
          endsAfter: call.shape?.endsAfter ?? null,
          bytesPerSecond: effect.bytesPerSecond,
        };
        return;
      case "hold": {
        const isReleased = await this.#setup.room.hold(active, point, call.seen, effect.timeoutMs);
        if (!isReleased)
          note(active, `request ${call.seen.requestId} went on: nobody released it in time`);
        return;
      }
      case "run":
        return this.#run(active, effect, call);
    }
  }

  async #run(
    active: ActiveRule,
    { request }: Extract<Effect, { kind: "run" }>,
    { seen }: LabCall,
  ): Promise<void> {
    try {
      const { status, code } = await this.#setup.parties.send(request, seen);
      note(
        active,
        `${request.method} ${request.path} was answered ${[status, code ?? ""].join(" ").trim()}`,
      );
    } catch (error) {
      note(active, `${request.method} ${request.path} failed: ${(error as Error).message}`);
    }
  }

  #answer({ id }: ActiveRule, effect: AnswerEffect, { request, seen }: LabCall): RestResponse {
    const service = this.#services.get(request) as RestService;
    const code = codeOf(effect, seen.service);
    const response = service.renderFault(new Fault(code, {}, SENTENCE), request);
    const { retryAfter } = effect;
    const headers: string[] = [];
    for (let at = 0; at < response.headers.length; at += 2) {
      const [name = "", value = ""] = response.headers.slice(at, at + 2);
      if (retryAfter === null || name !== "Retry-After") headers.push(name, value);
    }
    if (retryAfter !== null) headers.push("Retry-After", `${retryAfter}`);
    headers.push(LAB_HEADER, `rule ${id}`);
    return { ...response, headers };
  }

  #shaping({ request }: LabCall): Shaping {
    return { pause: (ms) => this.#pause(ms), cut: () => request.cut?.() };
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#setup.schedule(resolve, ms);
    });
  }
}

/** Stands for the answer of a request whose connection was cut. */
const DROPPED: RestResponse = {
  status: 500,
  headers: ["x-ms-error-code", "InternalError"],
  body: null,
};

function codeOf({ code, status }: AnswerEffect, service: string): FaultCode {
  if (code !== null) return code as FaultCode;
  const own = service === "table" ? TABLE_CODES[status ?? 0] : undefined;
  const conflict = status === 409 ? OTHER_CONFLICTS[service] : undefined;
  return own ?? conflict ?? (CODES[status ?? 0] as FaultCode);
}

function closeBody(body: ResponseBody): void {
  if (body !== null && typeof body === "object" && "close" in body) body.close();
}
