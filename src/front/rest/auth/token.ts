import type { CompactJWSHeaderParameters, JWTPayload } from "jose";
import type { Instant } from "../../../base/clock.ts";
import { Fault } from "../../../base/fault.ts";
import type { IssuerKeys } from "./issuer-keys.ts";
import { detailOf } from "./refusals.ts";

/** The claims of a token. */
export type Claims = JWTPayload;

const TOKEN_CHARS_MAX = 16 * 1024;

/** Asymmetric algorithms only: never `none`, never a shared secret. */
const ALGORITHMS = [
  ...["RS256", "RS384", "RS512"],
  ...["PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512"],
];

/**
 * Reads the claims of a token. With keys, verifies its signature first. Throws a 401 that gives the
 * reason.
 */
export async function readToken(
  token: string,
  keys: IssuerKeys | null,
  now: Instant,
): Promise<Claims> {
  if (!isCompact(token)) throw refused(NO_TOKEN);
  // Loaded on demand, as most servers never see a token.
  const jose = await import("jose");
  let header: ReturnType<typeof jose.decodeProtectedHeader>;
  let claims: Claims;
  try {
    header = jose.decodeProtectedHeader(token);
    claims = jose.decodeJwt(token);
  } catch {
    throw refused(NO_TOKEN);
  }
  if (header.crit !== undefined) throw refused("The token demands an extension (crit).");
  if (keys === null) return claims;
  try {
    await jose.compactVerify(token, (found, input) => keys.find(found, input, now), {
      algorithms: ALGORITHMS,
    });
  } catch (error) {
    throw error instanceof jose.errors.JOSEError ? refusalOf(error.code, header) : error;
  }
  return claims;
}

/**
 * Makes a 401. `detail` is the service's own sentence if known; `reason` is ours, and says more.
 */
export function refused(detail: string, reason?: string): Fault {
  return new Fault("InvalidBearerToken", detailOf(detail, reason));
}

const NO_TOKEN = "The token is not a signed JSON Web Token.";

/** Whether a token has three parts in canonical Base64url. */
function isCompact(token: string): boolean {
  if (token.length > TOKEN_CHARS_MAX) return false;
  const parts = token.split(".", 4);
  if (parts.length !== 3) return false;
  return parts.every((part) => Buffer.from(part, "base64url").toString("base64url") === part);
}

function refusalOf(
  code: string,
  { alg, kid }: Partial<Pick<CompactJWSHeaderParameters, "alg" | "kid">>,
): Fault {
  switch (code) {
    case "ERR_JOSE_ALG_NOT_ALLOWED":
      return refused(`Tokens signed with ${JSON.stringify(alg)} are not taken.`);
    case "ERR_JWKS_NO_MATCHING_KEY":
      return refused(
        "Signature validation failed. Signature key not found.",
        `The issuer has no key ${JSON.stringify(kid ?? "")} for ${alg}.`,
      );
    case "ERR_JWKS_MULTIPLE_MATCHING_KEYS":
      return refused("The token does not say which of the issuer's keys signed it (kid).");
    case "ERR_JWS_SIGNATURE_VERIFICATION_FAILED":
      return refused("Signature validation failed.", "The issuer's key did not sign this token.");
    default:
      return refused(NO_TOKEN);
  }
}
