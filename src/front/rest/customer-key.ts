import { createHash, randomBytes } from "node:crypto";
import type { Bytes } from "../../base/bytes.ts";
import { Fault } from "../../base/fault.ts";
import type { CustomerKey } from "../../rules/encryption.ts";
import type { RestRequest } from "./http/exchange.ts";
import { invalidHeader } from "./request-headers.ts";

const KEY = "encryption-key";
const SHA256 = "encryption-key-sha256";
const ALGORITHM = "encryption-algorithm";
const ALGORITHM_NAME = "AES256";

const NAMES = [KEY, SHA256, ALGORITHM];
/** The headers of keys, for operations that take none. */
export const KEY_HEADERS: readonly string[] = NAMES.map((name) => `x-ms-${name}`);
export const SOURCE_KEY_HEADERS: readonly string[] = NAMES.map((name) => `x-ms-source-${name}`);

const KEY_BYTES = 32;
/** What AES in Galois/counter mode takes. */
const NONCE_BYTES = 12;

type Asked = Pick<RestRequest, "headers" | "secure" | "remoteAddress">;

/** The key of a request that writes; null without one. */
export function keyOf(request: Asked): CustomerKey | null {
  return keyNamed(request, "x-ms-", true);
}

/** The key of a request that reads, which need not name the algorithm. */
export function readKeyOf(request: Asked): CustomerKey | null {
  return keyNamed(request, "x-ms-", false);
}

/** The key of the source that a request names. */
export function sourceKeyOf(request: Asked): CustomerKey | null {
  return keyNamed(request, "x-ms-source-", true);
}

/** The header of an answer to a request with a key. */
export function keyHeaders(key: Pick<CustomerKey, "sha256"> | null): string[] {
  return key === null ? [] : [`x-ms-${SHA256}`, key.sha256.toString("base64")];
}

/** The headers of a write's answer that tell how its bytes are encrypted. */
export function encryptedHeaders(key: Pick<CustomerKey, "sha256"> | null = null): string[] {
  return ["x-ms-request-server-encrypted", "true", ...keyHeaders(key)];
}

/** The headers with which a key is sent to another server. */
export function sentKeyHeaders({ bytes, sha256 }: CustomerKey): Record<string, string> {
  return {
    [`x-ms-${KEY}`]: bytes.toString("base64"),
    [`x-ms-${SHA256}`]: sha256.toString("base64"),
    [`x-ms-${ALGORITHM}`]: ALGORITHM_NAME,
  };
}

function keyNamed(request: Asked, prefix: string, needsAlgorithm: boolean): CustomerKey | null {
  const { headers } = request;
  const text = headers.get(prefix + KEY);
  const hash = headers.get(prefix + SHA256);
  const algorithm = headers.get(prefix + ALGORITHM);
  if (text === undefined && hash === undefined && algorithm === undefined) return null;
  if (text === undefined) throw missing(prefix + KEY);
  if (hash === undefined) throw missing(prefix + SHA256);
  if (algorithm === undefined && needsAlgorithm) throw missing(prefix + ALGORITHM);
  if (algorithm !== undefined && algorithm !== ALGORITHM_NAME) {
    throw invalidHeader(prefix + ALGORITHM, algorithm, `It must be ${ALGORITHM_NAME}.`);
  }
  requirePrivate(request, prefix + KEY);
  const bytes = decoded(text);
  if (bytes?.length !== KEY_BYTES) {
    throw invalidHeader(prefix + KEY, "…", `It must be ${KEY_BYTES} bytes, encoded as Base64.`);
  }
  const sha256 = createHash("sha256").update(bytes).digest();
  if (decoded(hash)?.equals(sha256) !== true) {
    throw invalidHeader(prefix + SHA256, hash, "It must be the SHA-256 of the key, as Base64.");
  }
  return { bytes, sha256, nonce: randomBytes(NONCE_BYTES) };
}

function missing(name: string): Fault {
  return new Fault("MissingRequiredHeader", { HeaderName: name });
}

const LOOPBACK = /^(::1|(::ffff:)?127\.\d+\.\d+\.\d+)$/i;

/** A key that others on the network could read protects nothing. Within a machine they cannot. */
function requirePrivate({ secure, remoteAddress }: Asked, name: string): void {
  if (secure || LOOPBACK.test(remoteAddress)) return;
  throw invalidHeader(name, "…", "A key is accepted over https only: use an https endpoint.");
}

function decoded(text: string): Bytes | null {
  const bytes = Buffer.from(text, "base64");
  return bytes.toString("base64") === text ? bytes : null;
}
