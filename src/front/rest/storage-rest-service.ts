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
  refuseUnknownAccount,
} from "./auth/authenticate.ts";
import { challenge } from "./auth/challenge.ts";
import { corsHeaders, preflight } from "./auth/cors.ts";
import { accountSignedFor } from "./auth/left-out-account.ts";
import type { Resource } from "./auth/resource.ts";
import type { MacKey } from "./auth/signature.ts";
import type { Identity } from "./auth/user-delegation-key.ts";
import type { FieldVersions, HiddenFields } from "./field-versions.ts";
import { addedNames } from "./http/answer-head.ts";
import type { RestRequest, RestResponse, RestService } from "./http/exchange.ts";
import type { ErrorOptions } from "./render-error.ts";
import { refuseByTimeout } from "./request-query.ts";

/** A request, and what routing, authentication and version made of it. */
export interface StorageCall<Route> {
  readonly route: Route;
  readonly request: RestRequest;
  readonly account: string;
  readonly access: Access;
  /** `x-ms-version` of the request, or the newest we know. */
  readonly version: string;
  /** What is left out of the answer, as clients of this version do not know it; null for nothing. */
  readonly hidden: HiddenFields | null;
  /** Whether the client reached the account by its secondary name. */
  readonly isSecondary: boolean;
  /** The URL of the account as the client reached it, with a slash at its end. */
  readonly endpoint: string;
  /** Response headers that a SAS replaces on reads (`rscc`, `rsct`, …): names and values in turn. */
  readonly overrides: readonly string[];
  /** What a SAS opens of a table; null if nothing limits it. */
  readonly keyRange: KeyRange | null;
  readonly inner: InnerCalls<Route>;
  /** With what a user delegation key is made, for who comes with a bearer token. */
  readonly delegation: Delegation | null;
}

/** How the same service deals with the requests inside a request. */
export interface InnerCalls<Route> {
  /** `account` is that of a path which begins with no account of ours; null if each names its own. */
  route(
    request: RestRequest,
    account: string | null,
  ): { readonly account: string; readonly route: Route };
  /** Authenticated by themselves. A refusal is an answer, too. */
  answer(request: RestRequest, account: string | null): Promise<RestResponse>;
  /** What its own credentials permit. */
  access(request: RestRequest): Promise<Access>;
}

export interface Delegation {
  readonly identity: Identity;
  readonly secret: MacKey;
}

/** What routing finds, whatever the service. */
export interface RouteOf<Operation extends string> {
  readonly operation: Operation;
}

/** What tells one service from another: how it reads URLs, who handles what, how it spells errors. */
export interface StorageProtocol<Route extends RouteOf<string>> {
  readonly name: ServiceAddress["service"];
  readonly fields: FieldVersions<Route["operation"]>;
  /** `path` is what follows the account, percent-encoded. */
  route(request: RestRequest, path: string): Route;
  /** What is addressed, for whoever checks a SAS. */
  resourceOf(route: Route): Resource;
  handle(call: StorageCall<Route>): Promise<RestResponse>;
  spell(fault: Fault, request: RestRequest, options: ErrorOptions): RestResponse;
}

/** A service behind a listener: finds out what is asked and by whom, and has it handled. */
export class StorageRestService<Route extends RouteOf<string>> implements RestService {
  readonly name: string;
  readonly #protocol: StorageProtocol<Route>;
  readonly #context: AccountContext;
  readonly #accounts: Accounts;
  readonly #auth: AuthOptions;
  readonly #errors: ErrorOptions;
  readonly #inner: InnerCalls<Route>;

  constructor(
    protocol: StorageProtocol<Route>,
    context: AccountContext,
    accounts: Accounts,
    auth: AuthOptions,
  ) {
    this.name = protocol.name;
    this.#protocol = protocol;
    this.#context = context;
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
        this.#spelled(request, () => this.#answer(request, this.#locateInner(request, account))),
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
    return this.#protocol.spell(fault, request, this.#errors);
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
      // The path cannot be read like that.
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
    if (account === null || namesVersion(request)) return this.#answerInVersion(request, address);
    const taken = this.#takeDefaultVersion(request, account);
    return taken.then(() => this.#answerInVersion(request, address));
  }

  /** What is refused before anything is read or written is thrown at once. */
  #answerInVersion(request: RestRequest, address: Address): Promise<RestResponse> {
    refuseUnknownAccount(request, address, this.#protocol.name, this.#auth);
    const route = this.#protocol.route(request, address.resourcePath);
    const found = authenticate(request, address, this.#protocol.resourceOf(route), this.#auth);
    if (!(found instanceof Promise)) return this.#answerKnown(request, address, route, found);
    return found.then((known) => this.#answerKnown(request, address, route, known));
  }

  #answerKnown(
    request: RestRequest,
    address: Address,
    route: Route,
    found: Authenticated,
  ): Promise<RestResponse> {
    const { account } = address;
    refuseAnonymousWrite(found, request.method);
    refuseScope(found, request.method);
    refuseByTimeout(request.query);
    const hidden = this.#protocol.fields.hiddenFrom(request.version, route.operation);
    const answer = this.#protocol.handle({
      route,
      request,
      account: address.accountName,
      access: found.access,
      version: request.version,
      hidden,
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
    return hidden === null ? answer : answer.then((whole) => hidden.answerWithout(whole));
  }

  /** Pages see refusals too, so those are spelled here and get the same headers as any answer. */
  async #answerToPage(
    request: RestRequest,
    address: Address,
    account: Account,
  ): Promise<RestResponse> {
    const { cors } = await this.#properties(account.name);
    const response = await this.#spelled(request, () => this.#answer(request, address));
    const { method, headers } = request;
    const names = [...response.headers.filter((_, at) => at % 2 === 0), ...addedNames(request)];
    const added = corsHeaders(cors, method, headers.get("origin"), names);
    if (added.length > 0) response.headers.push(...added);
    return response;
  }

  async #spelled(request: RestRequest, answer: () => Promise<RestResponse>): Promise<RestResponse> {
    try {
      return await answer();
    } catch (error) {
      if (error instanceof Fault) return this.renderFault(error, request);
      throw error;
    }
  }

  async #preflight(request: RestRequest, account: Account | null): Promise<RestResponse> {
    const cors = account === null ? [] : (await this.#properties(account.name)).cors;
    return { status: 200, headers: preflight(cors, request.headers), body: null };
  }

  /**
   * Who names no version gets the one that the account has set, or else the newest. Refusals follow
   * it too, and so do the rules of signing.
   */
  async #takeDefaultVersion(request: RestRequest, account: Account): Promise<void> {
    const { defaultServiceVersion } = await this.#properties(account.name);
    if (defaultServiceVersion !== null) request.version = defaultServiceVersion;
  }

  #properties(account: string): Promise<ServiceProperties> {
    return knownServiceProperties(this.#context, { account, service: this.#protocol.name });
  }
}

/** A SAS names one, too. */
function namesVersion({ headers, query }: RestRequest): boolean {
  return headers.get("x-ms-version") !== undefined || query.get("sig") !== undefined;
}

/** Rules for any origin show on every read; the others concern requests that name their page. */
function mayNeedCors({ method, headers }: RestRequest): boolean {
  return method === "GET" || method === "HEAD" || headers.get("origin") !== undefined;
}

/** Nobody writes without credentials, so nothing more of such a request needs to be read. */
function refuseAnonymousWrite({ access }: Authenticated, method: string): void {
  if (access.kind !== "anonymous" || method === "GET" || method === "HEAD") return;
  throw new Fault(access.hides ? "ResourceNotFound" : "NoAuthenticationInformation");
}

function refuseScope({ encryptionScope }: Authenticated, method: string): void {
  if (encryptionScope === null || method === "GET" || method === "HEAD") return;
  throw new Fault("UnsupportedQueryParameter", {
    QueryParameterName: "ses",
    Reason: "This server does not support encryption scopes yet: sign without one.",
  });
}
