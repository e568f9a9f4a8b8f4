import { createHash, randomBytes } from "node:crypto";
import type { Bytes } from "../../base/bytes.ts";
import { Fault } from "../../base/fault.ts";
import type { CustomerKey } from "../../rules/encryption.ts";
import type { RestRequest } from "./http/exchange.ts";
import { invalidHeader } from "./request-headers.ts";

/** The headers of a key. Every request looks for them, so their names are not put together there. */
const NAMES = {
  key: "x-ms-encryption-key",
  sha256: "x-ms-encryption-key-sha256",
  algorithm: "x-ms-encryption-algorithm",
};
const SOURCE_NAMES: typeof NAMES = {
  key: "x-ms-source-encryption-key",
  sha256: "x-ms-source-encryption-key-sha256",
  algorithm: "x-ms-source-encryption-algorithm",
};
const ALGORITHM = "AES256";

/** The same for operations that take no key. */
export const KEY_HEADERS: readonly string[] = Object.values(NAMES);
export const SOURCE_KEY_HEADERS: readonly string[] = Object.values(SOURCE_NAMES);

const KEY_BYTES = 32;
/** What AES in Galois/counter mode takes. */
const NONCE_BYTES = 12;

type Asked = Pick<RestRequest, "headers" | "secure" | "remoteAddress">;

/** The key of a request that writes; null without one. */
export function keyOf(request: Asked): CustomerKey | null {
  return keyNamed(request, NAMES, true);
}

/** The key of a request that reads, which need not name the algorithm. */
export function readKeyOf(request: Asked): CustomerKey | null {
  return keyNamed(request, NAMES, false);
}

/** The key of the source that a request names. */
export function sourceKeyOf(request: Asked): CustomerKey | null {
  return keyNamed(request, SOURCE_NAMES, true);
}

/** The header of an answer to a request with a key. */
export function keyHeaders(key: Pick<CustomerKey, "sha256"> | null): readonly string[] {
  return key === null ? NONE : [NAMES.sha256, key.sha256.toString("base64")];
}

const NONE: readonly string[] = [];
const ENCRYPTED: readonly string[] = ["x-ms-request-server-encrypted", "true"];

/** The headers of a write's answer that tell how its bytes are encrypted. */
export function encryptedHeaders(key: Pick<CustomerKey, "sha256"> | null): readonly string[] {
  return key === null ? ENCRYPTED : [...ENCRYPTED, ...keyHeaders(key)];
}

/** The headers with which a key is sent to another server. */
export function sentKeyHeaders({ bytes, sha256 }: CustomerKey): Record<string, string> {
  return {
    [NAMES.key]: bytes.toString("base64"),
    [NAMES.sha256]: sha256.toString("base64"),
    [NAMES.algorithm]: ALGORITHM,
  };
}

function keyNamed(
  request: Asked,
  names: typeof NAMES,
  needsAlgorithm: boolean,
): CustomerKey | null {
  const { headers } = request;
  const text = headers.get(names.key);
  const hash = headers.get(names.sha256);
  const algorithm = headers.get(names.algorithm);
  if (text === undefined && hash === undefined && algorithm === undefined) return null;
  if (text === undefined) throw missing(names.key);
  if (hash === undefined) throw missing(names.sha256);
  if (algorithm === undefined && needsAlgorithm) throw missing(names.algorithm);
  if (algorithm !== undefined && algorithm !== ALGORITHM) {
    throw invalidHeader(names.algorithm, algorithm, `It must be ${ALGORITHM}.`);
  }
  requirePrivate(request, names.key);
  const bytes = decoded(text);
  if (bytes?.length !== KEY_BYTES) {
    throw invalidHeader(names.key, "…", `It must be ${KEY_BYTES} bytes, encoded as Base64.`);
  }
  const sha256 = createHash("sha256").update(bytes).digest();
  if (decoded(hash)?.equals(sha256) !== true) {
    throw invalidHeader(names.sha256, hash, "It must be the SHA-256 of the key, as Base64.");
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
