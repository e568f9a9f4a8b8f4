import { NO_BYTES, wholeBody } from "../../../base/bytes.ts";
import { Fault } from "../../../base/fault.ts";
import type { Stamp } from "../../../base/stamp.ts";
import type { Access } from "../../../rules/access.ts";
import type { SourceRole } from "../../../rules/conditions.ts";
import type { CustomerKey } from "../../../rules/encryption.ts";
import { DistantSource } from "../../../service/shared/distant-source.ts";
import type { OwnObject, OwnSource, Source } from "../../../service/shared/source.ts";
import type { SourceContext } from "../../../service/shared/use-source.ts";
import type { View } from "../../../store/store.ts";
import type { Accounts } from "../auth/account.ts";
import { locate } from "../auth/address.ts";
import { type AuthOptions, authenticate } from "../auth/authenticate.ts";
import type { Resource, ServiceName } from "../auth/resource.ts";
import { accessTo, hasAccountAccess } from "../auth/token-access.ts";
import type { Contexts } from "../contexts.ts";
import { sourceKeyOf } from "../customer-key.ts";
import type { RequestHeaders, RestRequest } from "../http/exchange.ts";
import { parseQuery } from "../http/query.ts";
import { RequestFacts } from "../http/request-facts.ts";
import {
  conditionsOf,
  invalidHeader,
  requireHeader,
  requireNoHeaders,
} from "../request-headers.ts";
import { cannotVerify } from "./cannot-verify.ts";
import { copyFailure } from "./copy-failure.ts";
import type { ForeignSources } from "./foreign-sources.ts";
import type { OwnEndpoints } from "./own-endpoints.ts";
import { copiesTagsOf } from "./source-tags.ts";
import {
  AUTHORIZATION_HEADER,
  parseSourceUrl,
  publicUrl,
  SOURCE_HEADER,
  type SourceUrl,
} from "./source-url.ts";

/** The request that names a source. */
export interface SourceCall {
  readonly request: RestRequest;
  readonly account: string;
  readonly access: Access;
  readonly version: string;
}

/** How a service resolves a URL of its own. */
export interface SourceProtocol {
  /**
   * `path` is the path after the account. Throws if nothing there can be copied.
   */
  route(
    request: RestRequest,
    account: string,
    path: string,
    asked: SourceAsked,
    role: SourceRole,
  ): RoutedSource;
}

/** What the request that names a source says about it. */
export interface SourceAsked {
  readonly headers: RequestHeaders;
  /** The key that the source is encrypted with; null for none. */
  readonly key: CustomerKey | null;
}

export interface RoutedSource {
  /** The resource that a SAS is checked against. */
  readonly resource: Resource;
  readonly snapshot: Stamp | null;
  /** Also judges the conditions on the source. */
  find(view: View, access: Access, fromArchive: boolean): OwnObject;
}

export interface CopySourcesSetup {
  readonly accounts: Accounts;
  readonly auth: AuthOptions;
  readonly endpoints: OwnEndpoints;
  readonly protocols: Readonly<Partial<Record<ServiceName, SourceProtocol>>>;
  readonly foreign: ForeignSources;
  /** Where accounts are stored, if not all in one database. */
  readonly stored?: Contexts<SourceContext>;
}

/** Resolves `x-ms-copy-source`. The client needs the same rights as for reading the source. */
export class CopySources {
  readonly #setup: CopySourcesSetup;

  constructor(setup: CopySourcesSetup) {
    this.#setup = setup;
  }

  async of(call: SourceCall, service: ServiceName, role: SourceRole): Promise<Source> {
    const { headers } = call.request;
    const url = urlOf(call);
    const named = this.#serviceAt(call, url, service);
    if (named !== null) {
      const { source, distant } = await this.#own(call, url, named, role);
      return distant === null ? source : new DistantSource(distant, source, copyFailure);
    }
    if (call.version < ACROSS_ACCOUNTS_SINCE) throw new Fault("CopyAcrossAccountsNotSupported");
    // Tags are known only for blobs of this server.
    requireNoHeaders(headers, ["x-ms-source-if-tags"]);
    if (copiesTagsOf(headers)) requireNoHeaders(headers, ["x-ms-copy-source-tag-option"]);
    const conditions = conditionsOf(headers, "x-ms-source-");
    const key = sourceKeyOf(call.request);
    return this.#setup.foreign.at(url, {
      key,
      authorization: authorizationOf(call),
      conditions,
      role,
      version: call.version,
    });
  }

  /** Resolves a source that must be a blob of this server, in the same database. */
  async ownBlobOf(call: SourceCall): Promise<OwnSource> {
    const url = urlOf(call);
    const isHere = this.#serviceAt(call, url, "blob") === "blob";
    const found = isHere ? await this.#own(call, url, "blob", "copied") : null;
    if (found !== null && found.distant === null) return found.source;
    throw new Fault("InvalidSourceBlobUrl", {
      CopySource: publicUrl(url),
      Reason:
        found === null
          ? "Only snapshots of page blobs on this server can be copied so: name one of them."
          : "The account of the source is in another database: copy the snapshot with Copy Blob.",
    });
  }

  #serviceAt({ request }: SourceCall, url: SourceUrl, service: ServiceName): ServiceName | null {
    const { endpoints, foreign } = this.#setup;
    const reached = { service, host: request.headers.get("host") };
    const near = endpoints.serviceAt(url.authority, url.secure, reached);
    // An operator who migrates from the cloud keeps the account's name and lists its origin there.
    if (near !== null || foreign.lists(url)) return near;
    return endpoints.cloudServiceAt(url.authority, url.secure);
  }

  async #own(
    call: SourceCall,
    url: SourceUrl,
    service: ServiceName,
    role: SourceRole,
  ): Promise<LocatedSource> {
    const protocol = this.#setup.protocols[service];
    if (protocol === undefined) {
      throw invalidHeader(SOURCE_HEADER, publicUrl(url), "Blobs and files can be copied.");
    }
    const request = readRequest(call, url, role);
    const asked = { headers: call.request.headers, key: sourceKeyOf(call.request) };
    const { routed, access, path, distant } = await withSourceFaultsAsync(role, async () => {
      const address = locate(url.authority, url.path, this.#setup.accounts);
      const { accountName, resourcePath } = address;
      if (accountName !== call.account && call.version < ACROSS_ACCOUNTS_SINCE) {
        throw new Fault("CopyAcrossAccountsNotSupported");
      }
      const routed = protocol.route(request, accountName, resourcePath, asked, role);
      const { container, name } = routed.resource;
      const isOwn = accountName === call.account && hasAccountAccess(call.access);
      const access =
        isOwn && !hasCredentials(request)
          ? accessTo(call.access, service, container)
          : (await authenticate(request, address, routed.resource, this.#setup.auth)).access;
      const path = `${accountName}/${container}/${name}`;
      return { routed, access, path, distant: this.#distantFrom(call.account, accountName) };
    });
    const source: OwnSource = {
      kind: "own",
      url: publicUrl(url),
      name: { path, snapshot: routed.snapshot },
      find: (view, fromArchive = false) =>
        withSourceFaults(role, () => routed.find(view, access, fromArchive)),
    };
    return { source, distant };
  }

  /** Where the source's account is stored; null if that is where the copy's is. */
  #distantFrom(account: string, source: string): SourceContext | null {
    const { stored } = this.#setup;
    if (stored === undefined || account === source) return null;
    const context = stored.of(source);
    return context === stored.of(account) ? null : context;
  }
}

interface LocatedSource {
  readonly source: OwnSource;
  /** Where it is stored; null if that is where its copy will be. */
  readonly distant: SourceContext | null;
}

/** Reports every refusal as one of the source. */
function withSourceFaults<T>(role: SourceRole, resolve: () => T): T {
  try {
    return resolve();
  } catch (error) {
    throw sourceFaultOf(error, role);
  }
}

async function withSourceFaultsAsync<T>(role: SourceRole, resolve: () => Promise<T>): Promise<T> {
  try {
    return await resolve();
  } catch (error) {
    throw sourceFaultOf(error, role);
  }
}

function sourceFaultOf(error: unknown, role: SourceRole): unknown {
  return error instanceof Fault ? cannotVerify(error, role) : error;
}

/** Before this version, a source was given as a path within the same account. */
const ACROSS_ACCOUNTS_SINCE = "2012-02-12";

function urlOf({ request, version }: SourceCall): SourceUrl {
  const text = requireHeader(request.headers, SOURCE_HEADER);
  if (!text.startsWith("/") || version >= ACROSS_ACCOUNTS_SINCE) return parseSourceUrl(text);
  const port = /:\d+$/.exec(request.headers.get("host") ?? "")?.[0] ?? "";
  return parseSourceUrl(`${request.secure ? "https" : "http"}://127.0.0.1${port}${text}`);
}

function authorizationOf({ request }: SourceCall): string | null {
  const value = request.headers.get(AUTHORIZATION_HEADER);
  if (value === undefined || value === "") return null;
  if (!/^bearer /i.test(value)) {
    throw invalidHeader(AUTHORIZATION_HEADER, "…", "It must be a bearer token: Bearer <token>.");
  }
  return value;
}

function hasCredentials({ headers, query }: RestRequest): boolean {
  return headers.get("authorization") !== undefined || query.get("sig") !== undefined;
}

/** Makes the request with which the client would read the source. */
function readRequest(call: SourceCall, url: SourceUrl, role: SourceRole): RestRequest {
  const { request, version } = call;
  const headers = new Map([["x-ms-version", version]]);
  const authorization = authorizationOf(call);
  if (authorization !== null) headers.set("authorization", authorization);
  const intent = request.headers.get("x-ms-file-request-intent");
  if (intent !== undefined) headers.set("x-ms-file-request-intent", intent);
  return {
    id: request.id,
    method: "GET",
    target: url.query === "" ? url.path : `${url.path}?${url.query}`,
    path: url.path,
    query: withSourceFaults(role, () => parseQuery(url.query)),
    headers: { get: (name) => headers.get(name), raw: [...headers].flat() },
    version,
    body: wholeBody(NO_BYTES),
    secure: url.secure,
    remoteAddress: request.remoteAddress,
    receivedMs: request.receivedMs,
    judgedMs: request.judgedMs,
    facts: new RequestFacts(),
    wholeBodies: request.wholeBodies,
  };
}
