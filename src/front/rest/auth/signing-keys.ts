import { createPublicKey, type JsonWebKey, type KeyObject } from "node:crypto";

/** A JSON Web Key, as an issuer publishes it. */
export type Jwk = Readonly<Record<string, unknown>>;

const RSA_BITS_MIN = 2_048;
/** The fields that are returned: a set may contain private parts by mistake. */
const PUBLIC_FIELDS = ["kty", "kid", "alg", "use", "key_ops", "n", "e", "crv", "x", "y"];

/** Throws an Error with a sentence for the operator if a key is unusable. */
export function checkSigningKeys(keys: readonly Jwk[]): Jwk[] {
  return keys.map((jwk) => {
    const id = typeof jwk.kid === "string" ? jwk.kid : null;
    const named = `The signing key ${id ?? "without a kid"}`;
    if (jwk.kty !== "RSA" && jwk.kty !== "EC") {
      throw new Error(`${named} is of type ${jwk.kty}. RSA and EC keys can be used.`);
    }
    const { modulusLength } = publicKeyOf(jwk, named).asymmetricKeyDetails ?? {};
    if (modulusLength !== undefined && modulusLength < RSA_BITS_MIN) {
      throw new Error(`${named} has ${modulusLength} bits. It needs ${RSA_BITS_MIN}.`);
    }
    return Object.fromEntries(Object.entries(jwk).filter(([name]) => PUBLIC_FIELDS.includes(name)));
  });
}

/**
 * Reads the signing keys of a JWKS document. Other keys in it are skipped. Throws an Error if none
 * is left.
 */
export function readKeySet(document: string): Jwk[] {
  const keys: Jwk[] = [];
  const problems: string[] = [];
  for (const key of listIn(document)) {
    try {
      if (key.use === undefined || key.use === "sig") keys.push(...checkSigningKeys([key]));
    } catch (error) {
      problems.push((error as Error).message);
    }
  }
  if (keys.length > 0) return keys;
  throw new Error(`It holds no usable signing key. ${problems[0] ?? ""}`.trimEnd());
}

function listIn(document: string): Jwk[] {
  let parsed: unknown = null;
  try {
    parsed = JSON.parse(document);
  } catch {
    // Reported below.
  }
  const keys = isObject(parsed) ? parsed.keys : undefined;
  if (!Array.isArray(keys)) {
    throw new Error('It is not a JSON Web Key Set, which is an object with a list of "keys".');
  }
  return keys.filter(isObject);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function publicKeyOf(jwk: JsonWebKey, named: string): KeyObject {
  try {
    return createPublicKey({ key: jwk, format: "jwk" });
  } catch {
    throw new Error(`${named} is not a complete public key in JWK form.`);
  }
}
