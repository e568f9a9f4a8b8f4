import { constants, createPublicKey, type JsonWebKey, type KeyObject, verify } from "node:crypto";
import type { Instant } from "../../../base/clock.ts";
import { Fault } from "../../../base/fault.ts";
import type { Claims, Jwt } from "./jwt.ts";
import { parseJwt } from "./jwt.ts";
import type { Identity } from "./user-delegation-key.ts";

/** Whose bearer tokens are taken. */
export type OAuth =
  /** Anybody's that claims what a token for storage would: for tests on a trusted machine only. */
  | { readonly mode: "basic" }
  | {
      readonly mode: "issuer";
      readonly issuer: string;
      /** Null: any of the audiences of storage. */
      readonly audience: string | null;
      readonly keys: readonly SigningKey[];
    };

interface SigningKey {
  readonly id: string | null;
  readonly algorithm: string | null;
  readonly key: KeyObject;
}

/** An issuer as the configuration states it. */
export interface IssuerSettings {
  readonly issuer: string;
  readonly audience?: string;
  /** Its public keys, as it publishes them in its JWKS. */
  readonly keys: readonly Readonly<Record<string, unknown>>[];
}

/** How far the clocks of issuer, client and server may be apart. */
const SKEW_MS = 5 * 60_000;
const RSA_BITS_MIN = 2_048;

const STORAGE = "https://storage.azure.com";
/** Storage as an application. */
const STORAGE_ID = "e406a681-f3d4-42a8-90b6-c2b029497af1";
const ACCOUNT_AUDIENCE = /^https:\/\/[a-z0-9-]{1,63}\.(?:blob|dfs|file|queue|table)\.core\.(.+)$/;
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

/** Throws an Error with a sentence for the operator if a key cannot be used. */
export function issuerOf({ issuer, audience, keys }: IssuerSettings): OAuth {
  if (keys.length === 0) throw new Error(`The issuer ${issuer} has no signing keys. Give it one.`);
  return { mode: "issuer", issuer, audience: audience ?? null, keys: keys.map(signingKeyOf) };
}

function signingKeyOf(jwk: Readonly<Record<string, unknown>>): SigningKey {
  const id = typeof jwk.kid === "string" ? jwk.kid : null;
  const named = `The signing key ${id ?? "without a kid"}`;
  if (jwk.kty !== "RSA" && jwk.kty !== "EC") {
    throw new Error(`${named} is of type ${jwk.kty}. RSA and EC keys can be used.`);
  }
  const key = publicKeyOf(jwk, named);
  const { modulusLength } = key.asymmetricKeyDetails ?? {};
  if (modulusLength !== undefined && modulusLength < RSA_BITS_MIN) {
    throw new Error(`${named} has ${modulusLength} bits. It needs ${RSA_BITS_MIN}.`);
  }
  return { id, algorithm: typeof jwk.alg === "string" ? jwk.alg : null, key };
}

function publicKeyOf(jwk: JsonWebKey, named: string): KeyObject {
  try {
    return createPublicKey({ key: jwk, format: "jwk" });
  } catch {
    throw new Error(`${named} is not a complete public key in JWK form.`);
  }
}

/** Who the token speaks for. Throws a 401 that says why it is not taken. */
export function verifyBearer(token: string, oauth: OAuth | null, now: Instant): Identity {
  if (oauth === null) {
    throw refused(
      "This server takes no bearer tokens. Start it with --oauth, or use a key or SAS.",
    );
  }
  const jwt = parseJwt(token);
  if (jwt === null) throw refused("The token is not a signed JSON Web Token.");
  if (oauth.mode === "issuer") refuseBySigner(jwt, oauth.keys);
  refuseByAuthority(jwt.claims, oauth);
  refuseByTime(jwt.claims, now);
  return identityOf(jwt.claims, oauth);
}

/** What a 401 tells in `WWW-Authenticate`: where to get a token, and for what. */
export function challenge(oauth: OAuth | null): string {
  const issuer =
    oauth?.mode === "issuer" ? oauth.issuer : "https://login.microsoftonline.com/common";
  const authority = issuer
    .replace(/^https:\/\/sts\.windows\.net\//, "https://login.microsoftonline.com/")
    .replace(/\/(?:v2\.0)?$/, "");
  const resource = (oauth?.mode === "issuer" && oauth.audience) || STORAGE;
  return `Bearer authorization_uri=${authority}/oauth2/authorize resource_uri=${resource}`;
}

function refuseBySigner(jwt: Jwt, keys: readonly SigningKey[]): void {
  const algorithm = textOf(jwt.header, "alg") ?? "none";
  const id = textOf(jwt.header, "kid");
  if (jwt.header.has("crit")) throw refused("The token demands an extension (crit).");
  const candidates = id === null ? keys : keys.filter((key) => key.id === id);
  if (candidates.length !== 1) {
    throw refused(
      id === null
        ? "The token does not say which key signed it (kid), and the issuer has several."
        : `The issuer has no single key ${JSON.stringify(id)}. Configure its new keys.`,
    );
  }
  const [signer] = candidates as [SigningKey];
  if (signer.algorithm !== null && signer.algorithm !== algorithm) {
    throw refused(`The key is for ${signer.algorithm}, the token is signed with ${algorithm}.`);
  }
  if (!isSignedBy(signer.key, algorithm, jwt)) throw refused("The token's signature is not valid.");
}

/** Only algorithms whose signer alone can sign: never `none`, never one with a shared secret. */
function isSignedBy(key: KeyObject, algorithm: string, { signed, signature }: Jwt): boolean {
  const text = Buffer.from(signed, "ascii");
  const rsa = key.asymmetricKeyType === "rsa";
  const p256 = key.asymmetricKeyDetails?.namedCurve === "prime256v1";
  switch (algorithm) {
    case "RS256":
    case "RS384":
    case "RS512":
      return rsa && verify(`sha${algorithm.slice(2)}`, text, key, signature);
    case "PS256": {
      const padding = constants.RSA_PKCS1_PSS_PADDING;
      return rsa && verify("sha256", text, { key, padding, saltLength: 32 }, signature);
    }
    case "ES256":
      return p256 && verify("sha256", text, { key, dsaEncoding: "ieee-p1363" }, signature);
    default:
      throw refused(`Tokens signed with ${JSON.stringify(algorithm)} are not taken.`);
  }
}

function refuseByAuthority(claims: Claims, oauth: OAuth): void {
  const issuer = textOf(claims, "iss") ?? "";
  const trusted = oauth.mode === "issuer" ? issuer === oauth.issuer : isAuthority(issuer);
  if (!trusted) throw refused(`The token's issuer, ${JSON.stringify(issuer)}, is not trusted.`);
  const wanted = oauth.mode === "issuer" ? oauth.audience : null;
  const audience = claims.get("aud");
  const meant = (Array.isArray(audience) ? audience : [audience]).some(
    (one) => typeof one === "string" && (wanted === null ? isStorage(one) : one === wanted),
  );
  if (!meant) throw refused(`The token is not for ${wanted ?? STORAGE} (aud).`);
}

function isAuthority(issuer: string): boolean {
  const host = AUTHORITY.exec(issuer)?.[1];
  return host !== undefined && AUTHORITY_HOSTS.includes(host);
}

/** All of storage, or one account's endpoint in one of the clouds; with a last slash or without. */
function isStorage(audience: string): boolean {
  const plain = audience.endsWith("/") ? audience.slice(0, -1) : audience;
  if (plain === STORAGE || plain === STORAGE_ID) return true;
  const cloud = ACCOUNT_AUDIENCE.exec(plain)?.[1];
  return cloud !== undefined && CLOUDS.includes(cloud);
}

function refuseByTime(claims: Claims, now: Instant): void {
  const expiry = claims.get("exp");
  const start = claims.get("nbf") ?? 0;
  if (typeof expiry !== "number" || typeof start !== "number") {
    throw refused("The token does not say until when it is valid (exp).");
  }
  if (now >= expiry * 1000 + SKEW_MS) throw refused("The token has expired.");
  if (now < start * 1000 - SKEW_MS) throw refused("The token is not valid yet.");
}

function identityOf(claims: Claims, oauth: OAuth): Identity {
  const objectId = textOf(claims, "oid");
  const tenantId = textOf(claims, "tid");
  if (objectId !== null && tenantId !== null) return { objectId, tenantId };
  // Other issuers than Microsoft's name neither; their subjects are unique among themselves.
  const subject = textOf(claims, "sub");
  if (oauth.mode === "basic" || subject === null) {
    throw refused("The token does not say whom it speaks for (oid and tid).");
  }
  return { objectId: objectId ?? subject, tenantId: tenantId ?? oauth.issuer };
}

function textOf(claims: Claims, name: string): string | null {
  const value = claims.get(name);
  return typeof value === "string" && value !== "" ? value : null;
}

function refused(reason: string): Fault {
  return new Fault("InvalidBearerToken", { AuthenticationErrorDetail: reason });
}
