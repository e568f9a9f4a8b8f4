import { Fault } from "../../../base/fault.ts";
import { type Access, type KeyRange, OWNER } from "../../../rules/access.ts";
import type { AuthKind } from "../../outcome.ts";
import type { RestRequest } from "../http/exchange.ts";
import { verifyAccountSas } from "./account-sas.ts";
import type { Address, KnownAddress } from "./address.ts";
import { type OAuth, verifyBearer } from "./bearer.ts";
import { authenticationFailed, detailOf, readable, SignatureMismatch } from "./refusals.ts";
import type { Resource, ServiceName } from "./resource.ts";
import { requireNoRepeatedFields, type SasGrant } from "./sas.ts";
import { sasKindOf } from "./sas-fields.ts";
import { verifyServiceSas } from "./service-sas.ts";
import { type SharedKey, verifySharedKey } from "./shared-key.ts";
import { accessOfToken } from "./token-access.ts";
import type { Identity } from "./user-delegation-key.ts";
import { verifyUserDelegationSas } from "./user-delegation-sas.ts";

/** What the credentials of a request grant. */
export interface Authenticated {
  readonly access: Access;
  /** Response headers that a SAS replaces on reads (`rscc`, …), as alternating names and values. */
  readonly overrides: readonly string[];
  /** The part of a table that a SAS grants; null if it is not limited. */
  readonly keyRange: KeyRange | null;
  /** The encryption scope that a SAS prescribes for writes. */
  readonly encryptionScope: string | null;
  /** The subject of the bearer token. Required to get a user delegation key. */
  readonly identity: Identity | null;
}

export interface AuthOptions {
  /** Null if bearer tokens are refused. */
  readonly oauth: OAuth | null;
  /** Account names to show when an account is unknown; empty beyond loopback. */
  readonly shownAccounts?: readonly string[];
}

const BEARER_FROM = "2017-11-09";
/**
 * Since these versions, a request without credentials is challenged; before, it gets "not found".
 */
const CHALLENGES_FROM: Readonly<Record<ServiceName, string>> = {
  blob: "2019-12-12",
  dfs: "2017-11-09",
  file: "2022-11-02",
  queue: "2019-12-12",
  table: "2020-12-06",
};

/**
 * Authenticates a request. Missing credentials are not refused here: the container decides what
 * anonymous clients may do. Every date is compared with the time the request arrived. Asynchronous
 * only for bearer tokens.
 *
 * A SAS is never ignored. If it comes with an Authorization header, both must be valid, and the
 * request gets no more than the SAS permits.
 */
export function authenticate(
  request: RestRequest,
  address: Address,
  resource: Resource,
  options: AuthOptions,
): Authenticated | Promise<Authenticated> {
  requireKnownAccount(request, address, resource.service, options);
  const kind = authKindOf(request);
  request.facts.auth = kind;
  switch (kind) {
    case "sharedKey":
    case "sharedKeyLite":
      verifySharedKey(request, address, resource.service, sharedKeyOf(request, kind));
      return withSas(request, address, resource, null) ?? SIGNED;
    case "bearer":
      return byBearer(request, address, resource, options);
    case "other":
      throw new Fault("InvalidAuthenticationInfo", {
        AuthenticationErrorDetail:
          "The Authorization header must be 'SharedKey account:signature', " +
          "'SharedKeyLite account:signature' or 'Bearer token'.",
      });
  }
  const found =
    kind === "anonymous"
      ? byAnonymous(request, resource.service)
      : bySas(request, address, resource, null);
  requireReadOnSecondary(request, address);
  return { ...NO_LIMITS, ...found };
}

type RestAuthKind = Exclude<AuthKind, "none" | "ntlm">;

const HEADER_KINDS: ReadonlyMap<string, RestAuthKind> = new Map([
  ["sharedkey", "sharedKey"],
  ["sharedkeylite", "sharedKeyLite"],
  ["bearer", "bearer"],
]);

/** The kind of credentials in a request. An Authorization header counts before a SAS. */
function authKindOf({ headers, query }: RestRequest): RestAuthKind {
  const authorization = headers.get("authorization");
  if (authorization !== undefined) {
    const scheme = authorization.slice(0, Math.max(authorization.indexOf(" "), 0));
    return HEADER_KINDS.get(scheme.toLowerCase()) ?? "other";
  }
  return query.get("sig") === undefined ? "anonymous" : sasKindOf(query);
}

/** What follows the scheme in the Authorization header. */
function credentialsOf({ headers }: RestRequest): string {
  const authorization = headers.get("authorization") ?? "";
  return authorization.slice(authorization.indexOf(" ") + 1);
}

type Found = Pick<Authenticated, "access"> & Partial<Authenticated>;

const NO_LIMITS = { overrides: [], keyRange: null, encryptionScope: null, identity: null };
/** Shared by all requests signed with a key, as most are. */
const SIGNED: Authenticated = { ...NO_LIMITS, access: OWNER };

/**
 * Returns what a SAS next to a valid header leaves of the owner's rights; null if there is none.
 */
function withSas(
  request: RestRequest,
  address: KnownAddress,
  resource: Resource,
  bearer: Identity | null,
): Authenticated | null {
  const hasSas = request.query.get("sig") !== undefined;
  const grant = hasSas ? bySas(request, address, resource, bearer) : null;
  requireReadOnSecondary(request, address);
  return grant === null ? null : { ...NO_LIMITS, ...grant };
}

function sharedKeyOf(request: RestRequest, kind: "sharedKey" | "sharedKeyLite"): SharedKey {
  const credentials = credentialsOf(request);
  const colon = credentials.indexOf(":");
  const accountName = credentials.slice(0, Math.max(colon, 0)).trim();
  const signature = credentials.slice(colon + 1).trim();
  if (accountName === "" || signature === "") {
    throw new Fault("InvalidAuthenticationInfo", {
      AuthenticationErrorDetail: "The Authorization header must end in 'account:signature'.",
    });
  }
  return { lite: kind === "sharedKeyLite", accountName, signature };
}

async function byBearer(
  request: RestRequest,
  address: KnownAddress,
  resource: Resource,
  options: AuthOptions,
): Promise<Authenticated> {
  if (!request.secure) {
    throw authenticationFailed(
      "Authentication scheme Bearer is not allowed with HTTP.",
      "Tokens are only taken over HTTPS. Start the server with --cert and --key.",
    );
  }
  if (request.version < BEARER_FROM) {
    throw authenticationFailed(
      "Authentication scheme Bearer is not supported in this version.",
      `Send x-ms-version ${BEARER_FROM} or later.`,
    );
  }
  const { accountName, account } = address;
  const { service } = resource;
  const use = { service, accountName, domains: account.domains };
  const token = credentialsOf(request).trim();
  const { identity, claims } = await verifyBearer(token, options.oauth, use, request.receivedMs);
  const narrowed = withSas(request, address, resource, identity);
  if (narrowed !== null) return narrowed;
  if (resource.needsIntent && request.headers.get("x-ms-file-request-intent") !== "backup") {
    throw new Fault("MissingRequiredHeader", { HeaderName: "x-ms-file-request-intent" });
  }
  return { ...NO_LIMITS, access: accessOfToken(account, claims, resource), identity };
}

/**
 * Whether an account's key made the SAS of a request. Everything else about it is checked when the
 * request is authenticated.
 */
export function isSasOf(request: RestRequest, address: KnownAddress, resource: Resource): boolean {
  try {
    bySas(request, address, resource, null);
  } catch (error) {
    return error instanceof Fault && !(error instanceof SignatureMismatch);
  }
  return true;
}

/** `bearer` is the subject of the bearer token sent with the SAS. */
function bySas(
  request: RestRequest,
  address: KnownAddress,
  resource: Resource,
  bearer: Identity | null,
): SasGrant {
  const { query } = request;
  requireNoRepeatedFields(query);
  switch (sasKindOf(query)) {
    case "userDelegationSas":
      return verifyUserDelegationSas(request, address, resource, bearer);
    case "accountSas":
      return verifyAccountSas(request, address, resource.service);
    case "serviceSas":
      return verifyServiceSas(request, address, resource);
  }
}

/** A request without a version comes from an old client or a browser. */
function byAnonymous(request: RestRequest, service: ServiceName): Found {
  const hides = hidesFromAnonymous(request, service);
  if (mayBePublic(service)) return { access: { kind: "anonymous", hides } };
  if (!hides) throw new Fault("NoAuthenticationInformation");
  throw authenticationFailed("The request has neither an Authorization header nor a SAS.");
}

function mayBePublic(service: ServiceName): boolean {
  return service === "blob" || service === "dfs";
}

function hidesFromAnonymous({ headers, version }: RestRequest, service: ServiceName): boolean {
  return headers.get("x-ms-version") === undefined || version < CHALLENGES_FROM[service];
}

/**
 * Refuses every request to an unknown account, with a detail that says so. Without credentials, it
 * answers like an account that grants nothing.
 */
export function requireKnownAccount(
  request: RestRequest,
  address: Address,
  service: ServiceName,
  options: AuthOptions,
): asserts address is KnownAddress {
  if (address.account !== null) return;
  const { headers, query } = request;
  const detail = unknownAccount(address, options);
  const hasCredentials =
    headers.get("authorization") !== undefined || query.get("sig") !== undefined;
  if (hasCredentials) throw authenticationFailed(detail);
  const hides = hidesFromAnonymous(request, service);
  if (!hides) throw new Fault("NoAuthenticationInformation", detailOf(detail));
  throw mayBePublic(service)
    ? new Fault("ResourceNotFound", detailOf(detail))
    : authenticationFailed(detail);
}

const SHOWN_CHARS_MAX = 63;

function unknownAccount({ accountName }: Address, { shownAccounts = [] }: AuthOptions): string {
  const known = shownAccounts.length === 0 ? "" : ` It has: ${shownAccounts.join(", ")}.`;
  return (
    `The account ${readable(accountName.slice(0, SHOWN_CHARS_MAX))} is unknown to this server.` +
    `${known} The path begins with the name of the account, unless the host does.`
  );
}

/** The secondary is a read-only view of the same data. */
function requireReadOnSecondary(request: RestRequest, address: Address): void {
  if (!address.isSecondary) return;
  const { method, query } = request;
  if (method === "GET" || method === "HEAD") return;
  if (method === "POST" && query.get("comp") === "query") return;
  throw new Fault("InsufficientAccountPermissions");
}
