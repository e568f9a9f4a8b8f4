import { Fault } from "../../base/fault.ts";
import { isPercentEncoded } from "../../base/percent-text.ts";
import type { Access, KeyRange } from "../../rules/access.ts";
import type { AccountContext, ServiceAddress } from "../../service/account/context.ts";
import { knownServiceProperties } from "../../service/account/get-service-properties.ts";
import type { ServiceProperties } from "../../service/account/records.ts";
import type { Account, Accounts } from "./auth/account.ts";
import { type Address, endpointOf, locate, locateIn } from "./auth/address.ts";
import {
  type Authenticated,
  type AuthOptions,
  authenticate,
  isSasOf,
  requireKnownAccount,
} from "./auth/authenticate.ts";
import { challenge } from "./auth/challenge.ts";
import { corsHeaders, preflight } from "./auth/cors.ts";
import { accountSignedFor } from "./auth/left-out-account.ts";
import type { Resource } from "./auth/resource.ts";
import type { MacKey } from "./auth/signature.ts";
import type { Identity } from "./auth/user-delegation-key.ts";
import { Contexts } from "./contexts.ts";
import type { FieldVersions, HiddenFields } from "./field-versions.ts";
import { addedNames } from "./http/answer-head.ts";
import type { CallGate, RestRequest, RestResponse, RestService } from "./http/exchange.ts";
import type { ErrorOptions } from "./render-error.ts";
import { requireValidTimeout } from "./request-query.ts";

/** A routed and authenticated request. */
export interface StorageCall<Route> {
  readonly route: Route;
  readonly request: RestRequest;
  readonly account: string;
  readonly access: Access;
  /** `x-ms-version` of the request, or the newest version we support. */
  readonly version: string;
  /** Fields to leave out of the response because this version does not have them; null for none. */
  readonly hidden: HiddenFields | null;
  /** Whether the client used the account's secondary name. */
  readonly isSecondary: boolean;
  /** The account's URL as the client reached it, ending with a slash. */
  readonly endpoint: string;
  /**
   * Response headers that a SAS replaces on reads (`rscc`, `rsct`, …), as alternating names and
   * values.
   */
  readonly overrides: readonly string[];
  /** The part of a table that a SAS grants; null if it is not limited. */
  readonly keyRange: KeyRange | null;
  readonly inner: InnerCalls<Route>;
  /** Makes user delegation keys; null unless the request has a bearer token. */
  readonly delegation: Delegation | null;
}

/** How a service handles the requests inside a batch. */
export interface InnerCalls<Route> {
  /** `account` is the account of paths that name none; null if each path names its own. */
  route(
    request: RestRequest,
    account: string | null,
  ): { readonly account: string; readonly route: Route };
  /** Authenticates and answers an inner request. A refusal becomes a response, too. */
  answer(request: RestRequest, account: string | null): Promise<RestResponse>;
  /** Answers an inner request with the credentials of the outer one. Refusals become responses. */
  answerFor(outer: StorageCall<Route>, request: RestRequest, route: Route): Promise<RestResponse>;
  /** Returns what the credentials of an inner request permit. */
  access(request: RestRequest): Promise<Access>;
}

export interface Delegation {
  readonly identity: Identity;
  readonly secret: MacKey;
}

/** The part of a route that all services have in common. */
export interface RouteOf<Operation extends string> {
  readonly operation: Operation;
}

/** What differs between services: how they read URLs, handle operations and render errors. */
export interface StorageProtocol<Route extends RouteOf<string>, Context> {
  readonly name: ServiceAddress["service"];
  readonly fields: FieldVersions<Route["operation"]>;
  /** `path` is the percent-encoded path after the account. */
  route(request: RestRequest, path: string): Route;
  /** Returns the resource that a SAS is checked against. */
  resourceOf(route: Route): Resource;
  handle(context: Context, call: StorageCall<Route>): Promise<RestResponse>;
  renderError(fault: Fault, request: RestRequest, options: ErrorOptions): RestResponse;
}

/** The operation of an OPTIONS request, with which a browser asks what a page may send. */
const PREFLIGHT = "preflight";

/** A service behind a listener: routes and authenticates a request, then handles it. */
export class StorageRestService<Route extends RouteOf<string>, Context extends AccountContext>
  implements RestService
{
  readonly name: ServiceAddress["service"];
  readonly #protocol: StorageProtocol<Route, Context>;
  readonly #contexts: Contexts<Context>;
  readonly #accounts: Accounts;
  readonly #auth: AuthOptions;
  readonly #errors: ErrorOptions;
  readonly #inner: InnerCalls<Route>;

  constructor(
    protocol: StorageProtocol<Route, Context>,
    context: Context | Contexts<Context>,
    accounts: Accounts,
    auth: AuthOptions,
  ) {
    this.name = protocol.name;
    this.#protocol = protocol;
    this.#contexts = Contexts.of(context);
    this.#accounts = accounts;
    this.#auth = auth;
    this.#errors = {
      challenge: ({ headers }) => challenge(auth.oauth, headers.get("authorization")),
    };
    this.#inner = {
      route: (request, account) => {
        const { accountName, resourcePath } = this.#locateInner(request, account);
        return { account: accountName, route: protocol.route(request, resourcePath) };
      },
      answer: (request, account) =>
        this.#withErrorsRendered(request, () =>
          this.#answer(request, this.#locateInner(request, account)),
        ),
      answerFor: (outer, request, route) =>
        this.#withErrorsRendered(request, () => {
          request.facts.account = outer.account;
          request.facts.auth = outer.request.facts.auth;
          this.#note(request, route);
          const { version } = request;
          return this.#answerCall({ ...outer, request, version, route, hidden: null });
        }),
      access: async (request) => {
        const address = this.#locate(request);
        const route = protocol.route(request, address.resourcePath);
        return (await authenticate(request, address, protocol.resourceOf(route), auth)).access;
      },
    };
  }

  handle(request: RestRequest): Promise<RestResponse> {
    const address = this.#locate(request);
    if (request.method === "OPTIONS") return this.#preflight(request, address.account);
    if (address.account === null || !mayNeedCors(request)) return this.#answer(request, address);
    return this.#answerToPage(request, address, address.account);
  }

  renderFault(fault: Fault, request: RestRequest): RestResponse {
    return this.#protocol.renderError(fault, request, this.#errors);
  }

  #locate(request: RestRequest): Address {
    if (!isPercentEncoded(request.target)) {
      throw new Fault("InvalidUri", {
        Reason: "The URL holds bytes that are not printable ASCII: percent-encode its UTF-8.",
      });
    }
    const address = locate(request.headers.get("host"), request.path, this.#accounts);
    if (address.account !== null) return address;
    const account = accountSignedFor(request, this.#accounts, (one) => this.#isSasOf(request, one));
    return account === null ? address : locateIn(account, request.path);
  }

  #isSasOf(request: RestRequest, account: Account): boolean {
    try {
      const resource = this.#protocol.resourceOf(this.#protocol.route(request, request.path));
      return isSasOf(request, locateIn(account, request.path), resource);
    } catch (error) {
      // The path is not a path of this account.
      if (error instanceof Fault) return false;
      throw error;
    }
  }

  #locateInner(request: RestRequest, account: string | null): Address {
    const address = this.#locate(request);
    if (address.account !== null || account === null) return address;
    const known = this.#accounts.byName.get(account);
    return known === undefined ? address : locateIn(known, request.path);
  }

  #answer(request: RestRequest, address: Address): Promise<RestResponse> {
    const { account } = address;
    request.facts.account = account === null ? null : account.name;
    if (account !== null) {
      const judgedMs = request.gate?.now(account.name) ?? this.#contexts.now(account.name);
      if (judgedMs !== null) request.judgedMs = judgedMs;
    }
    if (account === null || namesVersion(request)) return this.#answerInVersion(request, address);
    const taken = this.#takeDefaultVersion(request, account);
    return taken.then(() => this.#answerInVersion(request, address));
  }

  /** Throws synchronously if the request is refused before anything is read or written. */
  #answerInVersion(request: RestRequest, address: Address): Promise<RestResponse> {
    requireKnownAccount(request, address, this.#protocol.name, this.#auth);
    const route = this.#protocol.route(request, address.resourcePath);
    const resource = this.#note(request, route);
    const found = authenticate(request, address, resource, this.#auth);
    if (!(found instanceof Promise)) return this.#answerKnown(request, address, route, found);
    return found.then((known) => this.#answerKnown(request, address, route, known));
  }

  /** Notes what a request is about. */
  #note({ facts }: RestRequest, route: Route): Resource {
    const resource = this.#protocol.resourceOf(route);
    facts.operation = route.operation;
    facts.container = resource.container === "" ? null : resource.container;
    return resource;
  }

  #answerKnown(
    request: RestRequest,
    address: Address,
    route: Route,
    found: Authenticated,
  ): Promise<RestResponse> {
    const { account } = address;
    requireCredentialsToWrite(found, request.method);
    requireNoEncryptionScope(found, request.method);
    return this.#answerCall({
      route,
      request,
      account: address.accountName,
      access: found.access,
      version: request.version,
      hidden: null,
      isSecondary: address.isSecondary,
      endpoint: endpointOf(request, address),
      overrides: found.overrides,
      keyRange: found.keyRange,
      inner: this.#inner,
      delegation:
        found.identity === null || account === null
          ? null
          : { identity: found.identity, secret: account.delegationSecret },
    });
  }

  #answerCall(permitted: StorageCall<Route>): Promise<RestResponse> {
    const { request, version, route } = permitted;
    requireValidTimeout(request.query);
    const hidden = this.#protocol.fields.hiddenFrom(version, route.operation);
    const call = hidden === null ? permitted : { ...permitted, hidden };
    const { gate } = request;
    const answer = gate === undefined ? this.#handle(call) : this.#handleThrough(gate, call);
    return hidden === null ? answer : answer.then((whole) => hidden.answerWithout(whole));
  }

  #handle(call: StorageCall<Route>): Promise<RestResponse> {
    return this.#protocol.handle(this.#contexts.of(call.account), call);
  }

  /** Lets a lab see the call and decide when it runs. */
  #handleThrough(gate: CallGate, call: StorageCall<Route>): Promise<RestResponse> {
    const { container, name } = this.#protocol.resourceOf(call.route);
    const { operation } = call.route;
    const { access, account } = call;
    const asked = { operation, account, container, object: name, access };
    return gate.pass(call.request, asked, () => this.#handle(call));
  }

  /** Renders refusals here, as browser pages need the CORS headers on them, too. */
  async #answerToPage(
    request: RestRequest,
    address: Address,
    account: Account,
  ): Promise<RestResponse> {
    const { cors } = await this.#properties(account.name);
    const response = await this.#withErrorsRendered(request, () => this.#answer(request, address));
    const { method, headers } = request;
    const names = [...response.headers.filter((_, at) => at % 2 === 0), ...addedNames(request)];
    const added = corsHeaders(cors, method, headers.get("origin"), names);
    if (added.length > 0) response.headers.push(...added);
    return response;
  }

  async #withErrorsRendered(
    request: RestRequest,
    answer: () => Promise<RestResponse>,
  ): Promise<RestResponse> {
    try {
      return await answer();
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      request.facts.refusal = error;
      return this.#protocol.renderError(error, request, this.#errors);
    }
  }

  async #preflight(request: RestRequest, account: Account | null): Promise<RestResponse> {
    request.facts.operation = PREFLIGHT;
    request.facts.account = account === null ? null : account.name;
    const cors = account === null ? [] : (await this.#properties(account.name)).cors;
    return { status: 200, headers: preflight(cors, request.headers), body: null };
  }

  /**
   * Applies the account's default version to a request without a version. Refusals and the rules of
   * signing follow it, too.
   */
  async #takeDefaultVersion(request: RestRequest, account: Account): Promise<void> {
    const { defaultServiceVersion } = await this.#properties(account.name);
    if (defaultServiceVersion !== null) request.version = defaultServiceVersion;
  }

  #properties(account: string): Promise<ServiceProperties> {
    const at = { account, service: this.#protocol.name };
    return knownServiceProperties(this.#contexts.of(account), at);
  }
}

/** Whether a request names a version. A SAS does. */
function namesVersion({ headers, query }: RestRequest): boolean {
  return headers.get("x-ms-version") !== undefined || query.get("sig") !== undefined;
}

/** Rules for any origin apply to every read; the others apply to requests with an Origin. */
function mayNeedCors({ method, headers }: RestRequest): boolean {
  return method === "GET" || method === "HEAD" || headers.get("origin") !== undefined;
}

/** Refuses early, before the rest of the request is read: anonymous clients may never write. */
function requireCredentialsToWrite({ access }: Authenticated, method: string): void {
  if (access.kind !== "anonymous" || method === "GET" || method === "HEAD") return;
  throw new Fault(access.hides ? "ResourceNotFound" : "NoAuthenticationInformation");
}

function requireNoEncryptionScope({ encryptionScope }: Authenticated, method: string): void {
  if (encryptionScope === null || method === "GET" || method === "HEAD") return;
  throw new Fault("UnsupportedQueryParameter", {
    QueryParameterName: "ses",
    Reason: "This server does not support encryption scopes yet: sign without one.",
  });
}
