import type { Bytes } from "../../../base/bytes.ts";

/** A JSON Web Token taken apart. Nothing in it has been verified. */
export interface Jwt {
  readonly header: Claims;
  readonly claims: Claims;
  /** The text that `signature` signs. */
  readonly signed: string;
  readonly signature: Bytes;
}

export type Claims = ReadonlyMap<string, unknown>;

const JWT_CHARS_MAX = 16 * 1024;
/** Claims are values and lists of them; the deepest that issuers are known to send is 3. */
const JSON_DEPTH_MAX = 8;

/** Null if the text is not a signed token. */
export function parseJwt(text: string): Jwt | null {
  if (text.length > JWT_CHARS_MAX) return null;
  const parts = text.split(".", 4);
  const [header = "", claims = "", signature = ""] = parts;
  if (parts.length !== 3) return null;
  const parsedHeader = parseClaims(header);
  const parsedClaims = parseClaims(claims);
  const parsedSignature = parseBase64Url(signature);
  if (parsedHeader === null || parsedClaims === null || parsedSignature === null) return null;
  return {
    header: parsedHeader,
    claims: parsedClaims,
    signed: `${header}.${claims}`,
    signature: parsedSignature,
  };
}

function parseClaims(part: string): Claims | null {
  const bytes = parseBase64Url(part);
  if (bytes === null) return null;
  const json = bytes.toString("utf8");
  if (isDeep(json)) return null;
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
    return new Map(Object.entries(value));
  } catch {
    return null;
  }
}

/** Counts brackets within texts too: a real token has none to spare. */
function isDeep(json: string): boolean {
  let depth = 0;
  for (let at = 0; at < json.length; at++) {
    const char = json[at];
    if (char === "{" || char === "[") depth++;
    if (char === "}" || char === "]") depth--;
    if (depth > JSON_DEPTH_MAX) return true;
  }
  return false;
}

/** Null unless the text is spelled exactly as these bytes would be. */
function parseBase64Url(text: string): Bytes | null {
  const bytes = Buffer.from(text, "base64url");
  return bytes.toString("base64url") === text ? bytes : null;
}
