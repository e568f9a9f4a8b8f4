import { Fault } from "../../../base/fault.ts";
import { knownServiceProperties } from "../../../service/account/get-service-properties.ts";
import type { ServiceProperties } from "../../../service/account/records.ts";
import type { BlobContext } from "../../../service/blob/context.ts";
import type { Account, Accounts } from "../auth/account.ts";
import { type Address, endpointOf, locate } from "../auth/address.ts";
import { type Authenticated, type AuthOptions, authenticate } from "../auth/authenticate.ts";
import { challenge } from "../auth/bearer.ts";
import { corsHeaders, preflight } from "../auth/cors.ts";
import type { RestRequest, RestResponse, RestService } from "../http/exchange.ts";
import { refuseByTimeout } from "../request-query.ts";
import { type ErrorOptions, spellXmlError } from "../spell-error.ts";
import type { BlobHandler } from "./call.ts";
import { BLOB_HANDLERS } from "./handlers.ts";
import { type BlobOperationName, routeBlob } from "./route.ts";

/** The Blob service behind a listener: finds out what is asked, by whom, and who handles it. */
export class BlobRestService implements RestService {
  readonly name = "blob";
  readonly #context: BlobContext;
  readonly #accounts: Accounts;
  readonly #auth: AuthOptions;
  readonly #errors: ErrorOptions;

  constructor(context: BlobContext, accounts: Accounts, auth: AuthOptions) {
    this.#context = context;
    this.#accounts = accounts;
    this.#auth = auth;
    this.#errors = { challenge: challenge(auth.oauth) };
  }

  async handle(request: RestRequest): Promise<RestResponse> {
    const address = locate(request.headers.get("host"), request.path, this.#accounts);
    if (request.method === "OPTIONS") return this.#preflight(request, address.account);
    if (address.account === null || !mayNeedCors(request)) return this.#answer(request, address);
    return this.#answerToPage(request, address, address.account);
  }

  spell(fault: Fault, request: RestRequest): RestResponse {
    return spellXmlError(fault, request, this.#errors);
  }

  async #answer(request: RestRequest, address: Address): Promise<RestResponse> {
    const { method, query, headers } = request;
    const route = routeBlob(method, address.resourcePath, query, headers);
    const { container, blob, operation } = route;
    const resource = { service: "blob", container, name: blob } as const;
    const found = authenticate(request, address, resource, this.#auth);
    refuseAnonymousWrite(found, method);
    refuseScope(found, method);
    refuseByTimeout(query);
    const { account } = address;
    return handlerOf(operation)(this.#context, {
      request,
      account: address.accountName,
      container,
      blob,
      access: found.access,
      version: await this.#versionOf(request, address.accountName),
      endpoint: endpointOf(request, address),
      overrides: found.overrides,
      delegation:
        found.identity === null || account === null
          ? null
          : { identity: found.identity, secret: account.delegationSecret },
    });
  }

  /** Pages see refusals too, so those are spelled here and get the same headers as any answer. */
  async #answerToPage(
    request: RestRequest,
    address: Address,
    account: Account,
  ): Promise<RestResponse> {
    const [response, { cors }] = await Promise.all([
      this.#answer(request, address).catch((error: unknown) => {
        if (error instanceof Fault) return this.spell(error, request);
        throw error;
      }),
      this.#properties(account.name),
    ]);
    const { method, headers } = request;
    const added = corsHeaders(cors, method, headers.get("origin"), response.headers);
    response.headers.push(...added);
    return response;
  }

  async #preflight(request: RestRequest, account: Account | null): Promise<RestResponse> {
    const cors = account === null ? [] : (await this.#properties(account.name)).cors;
    return { status: 200, headers: preflight(cors, request.headers), body: null };
  }

  /** Who names no version gets the one that the account has set, or else the newest. */
  async #versionOf(request: RestRequest, account: string): Promise<string> {
    if (request.headers.get("x-ms-version") !== undefined) return request.version;
    if (request.query.get("sig") !== undefined) return request.version;
    return (await this.#properties(account)).defaultServiceVersion ?? request.version;
  }

  #properties(account: string): Promise<ServiceProperties> {
    return knownServiceProperties(this.#context, { account, service: "blob" });
  }
}

/** Rules for any origin show on every read; the others concern requests that name their page. */
function mayNeedCors({ method, headers }: RestRequest): boolean {
  return method === "GET" || method === "HEAD" || headers.get("origin") !== undefined;
}

function handlerOf(operation: BlobOperationName): BlobHandler {
  const handler = BLOB_HANDLERS[operation];
  if (handler !== undefined) return handler;
  throw new Fault("NotImplemented", {
    Reason: `This server does not support the operation ${operation} yet.`,
  });
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
