import type { Instant } from "../../../base/clock.ts";
import type { CallerClaims } from "../../../rules/roles.ts";
import { IssuerKeys } from "./issuer-keys.ts";
import { keysAtUrl, keysInFile } from "./load-keys.ts";
import { SERVICE_LETTERS, type ServiceName } from "./resource.ts";
import { checkSigningKeys, type Jwk } from "./signing-keys.ts";
import { type Claims, readToken, refused } from "./token.ts";
import { callerClaims } from "./token-access.ts";
import type { Identity } from "./user-delegation-key.ts";

/** Which bearer tokens are accepted. */
export type OAuth =
  /**
   * Any token with the claims of a storage token, unverified: for tests on a trusted machine only.
   */
  | { readonly mode: "basic" }
  | {
      readonly mode: "issuer";
      readonly issuer: string;
      /** Null: storage in general, or the requested account. */
      readonly audience: string | null;
      readonly keys: IssuerKeys;
    };

/** An issuer as the configuration states it. */
export interface IssuerSettings {
  readonly issuer: string;
  readonly audience?: string;
  /** Where its public keys are published. */
  readonly from: KeyPlace;
}

export type KeyPlace =
  | { readonly keys: readonly Jwk[] }
  | { readonly file: string }
  /** `networks` are private networks that the URL's host may resolve to. */
  | { readonly url: string; readonly networks: readonly string[] };

/** The request that a token is used for. */
export interface TokenUse {
  readonly service: ServiceName;
  readonly accountName: string;
  /** Host names of the account. */
  readonly domains: readonly string[];
}

/** Allowed clock skew between issuer, client and server. */
const SKEW_MS = 5 * 60_000;

/** The audience of tokens, unless the configuration sets another. */
export const STORAGE = "https://storage.azure.com";
/** The application id of storage. */
const STORAGE_ID = "e406a681-f3d4-42a8-90b6-c2b029497af1";
const CLOUDS = ["windows.net", "usgovcloudapi.net", "chinacloudapi.cn", "cloudapi.de"];
const AUTHORITY = /^https:\/\/([a-z.-]+)\/[0-9a-f-]{36}\/(?:v2\.0)?$/;
const AUTHORITY_HOSTS = [
  "sts.windows.net",
  "sts.windows-ppe.net",
  "sts.chinacloudapi.cn",
  "sts.microsoftonline.de",
  "login.microsoftonline.com",
  "login.microsoftonline.us",
  "login.partner.microsoftonline.cn",
];

/** Throws an Error with a sentence for the operator if the keys are unusable. */
export function issuerOf({ issuer, audience, from }: IssuerSettings): OAuth {
  return {
    mode: "issuer",
    issuer,
    audience: audience ?? null,
    keys: new IssuerKeys(loaderOf(issuer, from)),
  };
}

function loaderOf(issuer: string, from: KeyPlace) {
  if ("url" in from) return keysAtUrl(from.url, from.networks);
  if ("file" in from) return keysInFile(from.file);
  if (from.keys.length === 0) {
    throw new Error(`The issuer ${issuer} has no signing keys. Give it one.`);
  }
  const keys = checkSigningKeys(from.keys);
  return async () => keys;
}

/** Whom a token speaks for. */
export interface Bearer {
  readonly identity: Identity;
  /** The claims that roles can name. */
  readonly claims: CallerClaims;
}

/** Verifies a token and returns its subject. Throws a 401 that gives the reason. */
export async function verifyBearer(
  token: string,
  oauth: OAuth | null,
  use: TokenUse,
  now: Instant,
): Promise<Bearer> {
  if (oauth === null) {
    throw refused(
      "Authentication scheme Bearer is not supported.",
      "This server takes no bearer tokens. Start it with --oauth, or use a key or SAS.",
    );
  }
  const claims = await readToken(token, oauth.mode === "issuer" ? oauth.keys : null, now);
  requireTrustedIssuer(claims, oauth);
  requireAudience(claims, oauth, use);
  requireLifetime(claims, now);
  return { identity: identityOf(claims, oauth), claims: callerClaims(claims) };
}

function requireTrustedIssuer(claims: Claims, oauth: OAuth): void {
  const issuer = textOf(claims, "iss") ?? "";
  const trusted = oauth.mode === "issuer" ? issuer === oauth.issuer : isAuthority(issuer);
  if (trusted) return;
  throw refused(
    "Issuer validation failed. Issuer did not match.",
    `The token's issuer, ${JSON.stringify(issuer)}, is not trusted.`,
  );
}

function isAuthority(issuer: string): boolean {
  const host = AUTHORITY.exec(issuer)?.[1];
  return host !== undefined && AUTHORITY_HOSTS.includes(host);
}

/** Refuses a token made for another audience, even if it is otherwise valid. */
function requireAudience(claims: Claims, oauth: OAuth, use: TokenUse): void {
  const named: unknown[] = Array.isArray(claims.aud) ? claims.aud : [claims.aud];
  const wanted = oauth.mode === "issuer" ? oauth.audience : null;
  const meant = named.some((one) => {
    if (typeof one !== "string") return false;
    return wanted === null ? isStorage(one, use) : one === wanted;
  });
  if (meant) return;
  const others = wanted === null ? ` or for the account ${use.accountName}` : "";
  throw refused(
    "Audience validation failed. Audience did not match.",
    `The token is not for ${wanted ?? STORAGE}${others} (aud).`,
  );
}

/**
 * Whether an audience is all of storage or this service of this account, with or without a final
 * slash.
 */
function isStorage(audience: string, { service, accountName, domains }: TokenUse): boolean {
  const plain = audience.endsWith("/") ? audience.slice(0, -1) : audience;
  if (plain === STORAGE || plain === STORAGE_ID) return true;
  if (domains.some((domain) => plain === `https://${domain}`)) return true;
  return namesOf(service).some((name) =>
    CLOUDS.some((cloud) => plain === `https://${accountName}.${name}.core.${cloud}`),
  );
}

/** Returns the services with the same letter: Blob and Data Lake are two views of the same data. */
function namesOf(service: ServiceName): string[] {
  const names = Object.entries(SERVICE_LETTERS);
  return names.filter(([, letter]) => letter === SERVICE_LETTERS[service]).map(([name]) => name);
}

function requireLifetime({ exp, nbf = 0 }: Claims, now: Instant): void {
  // JSON can hold numbers that parse as infinity; such a token would never expire.
  if (!Number.isFinite(exp) || !Number.isFinite(nbf)) {
    throw refused("The token does not say until when it is valid (exp and nbf are numbers).");
  }
  if (now >= Number(exp) * 1000 + SKEW_MS) {
    throw refused("Lifetime validation failed. The token is expired.");
  }
  if (now < nbf * 1000 - SKEW_MS) {
    throw refused("Lifetime validation failed. The token is not yet valid.");
  }
}

function identityOf(claims: Claims, oauth: OAuth): Identity {
  const objectId = textOf(claims, "oid");
  const tenantId = textOf(claims, "tid");
  if (objectId !== null && tenantId !== null) return { objectId, tenantId };
  // Issuers other than Microsoft's send neither; their subjects are unique per issuer.
  const subject = textOf(claims, "sub");
  if (oauth.mode === "basic" || subject === null) {
    throw refused("The token does not say whom it speaks for (oid and tid).");
  }
  return { objectId: objectId ?? subject, tenantId: tenantId ?? oauth.issuer };
}

function textOf(claims: Claims, name: string): string | null {
  const value = claims[name];
  return typeof value === "string" && value !== "" ? value : null;
}
