import { METHODS as HTTP_METHODS } from "node:http";
import type { Instant } from "../../../base/clock.ts";
import { Fault } from "../../../base/fault.ts";
import type { MemoryBudget } from "../../../base/memory-budget.ts";
import type { CallGate, Query, RequestHeaders, RestRequest } from "./exchange.ts";
import type { IncomingBody } from "./incoming-body.ts";
import { NEWEST_VERSION, protocolVersion } from "./protocol-version.ts";
import { parseQuery } from "./query.ts";
import { Rendering } from "./rendering.ts";
import { RequestFacts } from "./request-facts.ts";
import { type RequestHead, UNKNOWN_LENGTH } from "./request-head.ts";
import { nextRequestId } from "./request-id.ts";

/** Methods that at least one service has an operation for. */
const METHODS: ReadonlySet<string> = new Set([
  "GET",
  "HEAD",
  "PUT",
  "POST",
  "DELETE",
  "OPTIONS",
  "MERGE",
  "PATCH",
]);
/** Methods that HTTP knows: they get another refusal than unknown words. */
const OTHER_METHODS: ReadonlySet<string> = new Set(HTTP_METHODS);
const NO_QUERY = parseQuery("");

/** A request as the listener knows it; handlers see it as a `RestRequest`. */
export class IncomingRequest implements RestRequest {
  readonly id = nextRequestId();
  readonly method: string;
  readonly target: string;
  readonly path: string;
  readonly headers: RequestHeaders;
  readonly body: IncomingBody;
  readonly wholeBodies: MemoryBudget;
  readonly secure: boolean;
  readonly receivedMs: Instant;
  judgedMs: Instant;
  gate: CallGate | undefined = undefined;
  readonly remoteAddress: string;
  readonly facts = new RequestFacts();
  version = NEWEST_VERSION;
  #query: Query = NO_QUERY;
  readonly #refusal: Fault | null;
  readonly #renderings: MemoryBudget;
  #rendering: Rendering | null = null;

  constructor(
    head: RequestHead,
    body: IncomingBody,
    wholeBodies: MemoryBudget,
    renderings: MemoryBudget,
    remoteAddress: string,
    secure: boolean,
    receivedMs: Instant,
  ) {
    this.method = head.method;
    this.target = originForm(head.target);
    const mark = this.target.indexOf("?");
    this.path = mark < 0 ? this.target : this.target.slice(0, mark);
    this.headers = head.headers;
    this.#refusal = head.refusal;
    this.body = body;
    this.wholeBodies = wholeBodies;
    this.#renderings = renderings;
    this.remoteAddress = remoteAddress;
    this.secure = secure;
    this.receivedMs = receivedMs;
    this.judgedMs = receivedMs;
  }

  cut(): void {
    this.body.cutConnection();
  }

  get query(): Query {
    return this.#query;
  }

  get rendering(): Rendering {
    this.#rendering ??= new Rendering(this.#renderings);
    return this.#rendering;
  }

  /** Called once, when a handler has returned or failed. */
  handled(): void {
    this.#rendering?.end();
  }

  /**
   * Throws a Fault if the request is wrong whatever service gets it. Before this call the request
   * has no query and the newest version, which is enough to render the refusal.
   */
  check(): void {
    if (this.#refusal !== null) throw this.#refusal;
    if (!METHODS.has(this.method)) throw unknownMethod(this.method);
    this.#query = parseQuery(this.target.slice(this.path.length + 1));
    this.version = protocolVersion(this.headers, this.#query);
    if (this.body.length === UNKNOWN_LENGTH) throw new Fault("MissingContentLengthHeader");
  }
}

function unknownMethod(method: string): Fault {
  const code = OTHER_METHODS.has(method) ? "UnsupportedHttpVerb" : "InvalidHttpVerb";
  return new Fault(code, { Method: method });
}

/** The path and query of a target. Clients behind a proxy may send a whole URL. */
function originForm(target: string): string {
  if (target.startsWith("/")) return target;
  const scheme = /^https?:\/\//i.exec(target);
  if (scheme === null) return target;
  const authorityEnd = target.slice(scheme[0].length).search(/[/?]/);
  if (authorityEnd < 0) return "/";
  const rest = target.slice(scheme[0].length + authorityEnd);
  return rest.startsWith("/") ? rest : `/${rest}`;
}
